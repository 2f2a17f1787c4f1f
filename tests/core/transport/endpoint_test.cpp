#include "core/endpoint.hpp"

#include "support/catch.hpp"

using namespace telegate;

namespace {

bool is_endpoint(std::string_view text) {
    return std::holds_alternative<Endpoint>(parse_endpoint(text));
}

/// Parses the text and formats the result.
std::string round_trip(std::string_view text) {
    return to_string(std::get<Endpoint>(parse_endpoint(text)));
}

std::string fault(std::string_view text) {
    return std::get<EndpointFault>(parse_endpoint(text)).what;
}

}  // namespace

TEST_CASE("endpoint text is parsed and formatted", "[core][endpoint]") {
    auto [text, shown] = GENERATE(table<std::string, std::string>({
        {"tcp://127.0.0.1:5556", "tcp://127.0.0.1:5556"},
        {"tcp://*:5556", "tcp://*:5556"},
        {"tcp://*:*", "tcp://*:0"},
        {"tcp://0.0.0.0:*", "tcp://0.0.0.0:0"},
        {"tcp://localhost:1", "tcp://localhost:1"},
        {"tcp://eth0:5556", "tcp://eth0:5556"},
        {"tcp://br-lan_1.100:5556", "tcp://br-lan_1.100:5556"},
        {"tcp://[::1]:65535", "tcp://[::1]:65535"},
        {"tcp://[::]:*", "tcp://[::]:0"},
        {"tcp://[fe80::1:2]:0", "tcp://[fe80::1:2]:0"},
        {"tcp://[fe80::1%eth0]:7", "tcp://[fe80::1%eth0]:7"},
        {"tcp://[fe80::1%2]:7", "tcp://[fe80::1%2]:7"},
        {"tcp://[::ffff:10.0.0.1]:7", "tcp://[::ffff:10.0.0.1]:7"},
        {"ipc:///run/telegate/pub.sock", "ipc:///run/telegate/pub.sock"},
        {"ipc://relative.sock", "ipc://relative.sock"},
        {"ipc://@telegate", "ipc://@telegate"},
        {"ipc://*", "ipc://*"},
        {"inproc://a", "inproc://a"},
        {"inproc://any name: at all", "inproc://any name: at all"},
    }));
    CAPTURE(text);
    CHECK(round_trip(text) == shown);
    CHECK(round_trip(shown) == shown);
}

TEST_CASE("an IPv6 address is stored without its brackets and with its zone", "[core][endpoint]") {
    CHECK(std::get<Endpoint>(parse_endpoint("tcp://[::1]:7")).host == "::1");
    CHECK(std::get<Endpoint>(parse_endpoint("tcp://[fe80::1%eth0]:7")).host == "fe80::1%eth0");
}

TEST_CASE("text that is not an endpoint is refused with a reason", "[core][endpoint]") {
    const std::string text =
        GENERATE("", "tcp", "tcp:/127.0.0.1:1", "TCP://127.0.0.1:1", "udp://127.0.0.1:1", "tcp://", "tcp://127.0.0.1",
                 "tcp://127.0.0.1:", "tcp://127.0.0.1:65536", "tcp://127.0.0.1:-1", "tcp://127.0.0.1:+1",
                 "tcp://127.0.0.1: 1", "tcp://127.0.0.1:1x", "tcp://127.0.0.1:**", "tcp://:1", "tcp://127.0.0.256:1",
                 "tcp://127.0.0:1", "tcp://1:1", "tcp://::1:1", "tcp://[::1:1", "tcp://::1]:1", "tcp://[]:1",
                 "tcp://[127.0.0.1]:1", "tcp://[*]:1", "tcp://[::1%]:1", "tcp://[%eth0]:1", "tcp://[fe80::1%eth 0]:1",
                 "tcp://[fe80::1%a%b]:1", "tcp://[::1] :1", "tcp://127.0.0.1;1.2.3.4:1", "tcp://eth 0:1",
                 "tcp://eth0:1:1", "tcp://abcdefghijklmnop:1", "tcp://**:1", "tcp://a/b:1", "tcp://example.org:1",
                 "tcp://eth0.:1", "tcp://224.0.0.1:1", "tcp://239.255.255.255:1", "tcp://255.255.255.255:1",
                 "tcp://[ff02::1]:1", "tcp://[ff02::1%eth0]:1", "ipc://", "ipc://@", "inproc://", "inproc:/a");
    CAPTURE(text);
    const auto result = parse_endpoint(text);
    REQUIRE(std::holds_alternative<EndpointFault>(result));
    CHECK_FALSE(std::get<EndpointFault>(result).what.empty());
}

TEST_CASE("the reason for a refusal says what is allowed", "[core][endpoint]") {
    CHECK(fault("tcp://127.0.0.1") == "missing port: use tcp://ADDRESS:PORT");
    CHECK(fault("tcp://127.0.0.1:x") == "invalid port: must be 0 to 65535, or * for any free port");
    CHECK(fault("tcp://::1:1").find("an IPv6 address in brackets") != std::string::npos);
    CHECK(fault("tcp://example.org:1").find("or with a VLAN: eth0.100") != std::string::npos);
    CHECK(fault("tcp://224.0.0.1:1").starts_with("invalid address: TCP supports neither multicast"));
    CHECK(fault("ipc://").find("ipc://PATH, ipc://@NAME or ipc://*") != std::string::npos);
    CHECK(fault("udp://127.0.0.1:1") == "unknown transport: must begin with tcp://, ipc:// or inproc://");
}

TEST_CASE("a host is checked like the host of an endpoint", "[core][endpoint]") {
    const std::string host = GENERATE("127.0.0.1", "localhost", "eth0", "*", "::1", "fe80::1%eth0");
    CAPTURE(host);
    CHECK_FALSE(check_tcp_host(host));
    CHECK(check_tcp_host("").value().what == fault("tcp://:1"));
    CHECK(check_tcp_host("example.org").value().what == fault("tcp://example.org:1"));
    CHECK(check_tcp_host("::x").value().what == fault("tcp://[::x]:1"));
    CHECK(check_tcp_host("224.0.0.1").value().what == fault("tcp://224.0.0.1:1"));
}

TEST_CASE("text with a zero byte is not an endpoint", "[core][endpoint]") {
    CHECK_FALSE(is_endpoint(std::string("tcp://127.0.0.1\0:1", 18)));
    CHECK_FALSE(is_endpoint(std::string("tcp://eth0\0:1", 13)));
    CHECK_FALSE(is_endpoint(std::string("tcp://[::1\0]:1", 14)));
    CHECK_FALSE(is_endpoint(std::string("ipc://a\0b", 9)));
    CHECK_FALSE(is_endpoint(std::string("inproc://a\0b", 12)));
}

TEST_CASE("an ipc path has at most the 107 bytes that fit into a socket address", "[core][endpoint]") {
    CHECK(is_endpoint("ipc://" + std::string(107, 'p')));
    CHECK_FALSE(is_endpoint("ipc://" + std::string(108, 'p')));
}

TEST_CASE("an inproc name is at most 255 bytes long, an interface name 15", "[core][endpoint]") {
    CHECK(is_endpoint("inproc://" + std::string(255, 'n')));
    CHECK_FALSE(is_endpoint("inproc://" + std::string(256, 'n')));
    CHECK(is_endpoint("tcp://" + std::string(15, 'e') + ":1"));
    CHECK_FALSE(is_endpoint("tcp://" + std::string(16, 'e') + ":1"));
}
