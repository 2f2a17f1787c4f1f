#include "core/endpoint.hpp"

#include "support/catch.hpp"

using namespace telegate;

namespace {

bool is_endpoint(std::string_view text) {
    return std::holds_alternative<Endpoint>(parse_endpoint(text));
}

/// What parsing makes of it, written out again.
std::string round_trip(std::string_view text) {
    return to_string(std::get<Endpoint>(parse_endpoint(text)));
}

}  // namespace

TEST_CASE("endpoint text is taken apart and put together again", "[core][endpoint]") {
    auto [text, shown] = GENERATE(table<std::string, std::string>({
        {"tcp://127.0.0.1:5556", "tcp://127.0.0.1:5556"},
        {"tcp://*:5556", "tcp://*:5556"},
        {"tcp://0.0.0.0:*", "tcp://0.0.0.0:0"},
        {"tcp://[::1]:65535", "tcp://[::1]:65535"},
        {"tcp://[fe80::1:2]:0", "tcp://[fe80::1:2]:0"},
        {"ipc:///run/telegate/pub.sock", "ipc:///run/telegate/pub.sock"},
        {"ipc://relative.sock", "ipc://relative.sock"},
        {"ipc://@telegate", "ipc://@telegate"},
    }));
    CAPTURE(text);
    CHECK(round_trip(text) == shown);
}

TEST_CASE("an IPv6 address is kept without its brackets", "[core][endpoint]") {
    CHECK(std::get<Endpoint>(parse_endpoint("tcp://[::1]:7")).host == "::1");
}

TEST_CASE("what is not an endpoint is refused with a reason", "[core][endpoint]") {
    const std::string text = GENERATE(
        "", "tcp", "tcp:/127.0.0.1:1", "TCP://127.0.0.1:1", "udp://127.0.0.1:1", "tcp://", "tcp://127.0.0.1",
        "tcp://127.0.0.1:", "tcp://127.0.0.1:65536", "tcp://127.0.0.1:-1", "tcp://127.0.0.1:+1", "tcp://127.0.0.1: 1",
        "tcp://127.0.0.1:1x", "tcp://:1", "tcp://localhost:1", "tcp://127.0.0.256:1", "tcp://::1:1", "tcp://[::1:1",
        "tcp://[]:1", "tcp://[127.0.0.1]:1", "tcp://[*]:1", "tcp://127.0.0.1;1.2.3.4:1", "ipc://", "ipc://@");
    CAPTURE(text);
    const auto result = parse_endpoint(text);
    REQUIRE(std::holds_alternative<EndpointFault>(result));
    CHECK_FALSE(std::get<EndpointFault>(result).what.empty());
}

TEST_CASE("a zero byte makes no endpoint", "[core][endpoint]") {
    CHECK_FALSE(is_endpoint(std::string("tcp://127.0.0.1\0:1", 18)));
    CHECK_FALSE(is_endpoint(std::string("tcp://[::1\0]:1", 14)));
    CHECK_FALSE(is_endpoint(std::string("ipc://a\0b", 9)));
}

TEST_CASE("an ipc path is at most the 107 bytes that a socket address holds", "[core][endpoint]") {
    CHECK(is_endpoint("ipc://" + std::string(107, 'p')));
    CHECK_FALSE(is_endpoint("ipc://" + std::string(108, 'p')));
}
