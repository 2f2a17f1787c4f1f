#include "http/http_head.hpp"

#include "support/catch.hpp"

#include <string>

using namespace telegate;
using namespace std::string_literals;

namespace {

int status_for(const std::string& bytes) {
    HttpHead head;
    return read_head(bytes, head).status;
}

}  // namespace

TEST_CASE("a head is parsed into method, target, fields and body size", "[gateway][http]") {
    HttpHead head;
    const HeadFault fault = read_head(
        "PUT /config?a=b HTTP/1.1\r\nhOST:h:80\r\nContent-Length: 12\r\nAccept:\t x \r\nExpect: 100-Continue\r\n\r\n",
        head);
    REQUIRE(fault.status == 0);
    CHECK(head.method == "PUT");
    CHECK(head.target == "/config?a=b");
    CHECK(head.host == "h:80");
    CHECK(head.body_bytes == 12);
    CHECK(head.keep_alive);
    CHECK(head.expects_continue);
    CHECK(head.field("ACCEPT") == "x");
    CHECK(head.field("Accep").empty());
}

TEST_CASE("keep-alive depends on the HTTP version and the Connection field", "[gateway][http]") {
    const auto [text, kept] = GENERATE(table<std::string, bool>({
        {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", true},
        {"GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n", false},
        {"GET / HTTP/1.1\r\nHost: h\r\nConnection: closed\r\n\r\n", true},
        {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n", false},
        {"GET / HTTP/1.0\r\n\r\n", false},
        {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true},
        {"GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", false},
    }));
    CAPTURE(text);
    HttpHead head;
    REQUIRE(read_head(text, head).status == 0);
    CHECK(head.keep_alive == kept);
}

// Some servers read each of these in two ways, so a server behind another one could see an additional request.
TEST_CASE("a head that two servers could read differently is refused", "[gateway][http]") {
    const auto fields = GENERATE(values<std::string>({
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: identity\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\ncontent-length: 6\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 5 5\r\n",
        "Content-Length:\r\n",
        "Content-Length : 5\r\n",
        "Content-Length\t: 5\r\n",
        " Content-Length: 5\r\n",
        "A: b\r\n Content-Length: 5\r\n",
        "A: b\r\n\tfolded\r\n",
        "A: b\nContent-Length: 5\r\n",
        "A: b\rContent-Length: 5\r\n",
        "A: b\r\r\n",
        "A: b\0c\r\n"s,
        "A\0: b\r\n"s,
        ": b\r\n",
        "no colon\r\n",
        "A b: c\r\n",
        "Host: other\r\n",
        "A: \x01\r\n",
    }));
    CAPTURE(fields);
    CHECK(status_for("POST / HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n") == 400);
}

TEST_CASE("a transfer encoding is refused, whatever its name", "[gateway][http]") {
    const auto value = GENERATE("chunked", "Chunked", "chunked, identity", "\tchunked", "xchunked", "gzip", "");
    CAPTURE(value);
    CHECK(status_for("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "s + value + "\r\n\r\n") == 411);
    CHECK(status_for("POST / HTTP/1.0\r\nTransfer-Encoding: "s + value + "\r\n\r\n") == 400);
}

TEST_CASE("a request line must have three parts separated by one space", "[gateway][http]") {
    const auto line = GENERATE(values<std::string>({
        "GET  / HTTP/1.1",
        "GET / HTTP/1.1 ",
        " GET / HTTP/1.1",
        "GET\t/\tHTTP/1.1",
        "GET /a b HTTP/1.1",
        "GET / http/1.1",
        "GET / HTTP/1.2",
        "GET / HTTP/2.0",
        "GET / HTTP/1.10",
        "GET /",
        "GET",
        "",
        "G(T / HTTP/1.1",
        "GET x HTTP/1.1",
        "GET * HTTP/1.1",
        "GET http:///x HTTP/1.1",
        "GET http://a@b/ HTTP/1.1",
        "GET http://a?b HTTP/1.1",
        "GET ftp://a/ HTTP/1.1",
        "GET /\x80 HTTP/1.1",
        "GET /\0 HTTP/1.1"s,
    }));
    CAPTURE(line);
    CHECK(status_for(line + "\r\nHost: h\r\n\r\n") == 400);
}

TEST_CASE("a request must name its host", "[gateway][http]") {
    CHECK(status_for("GET / HTTP/1.1\r\n\r\n") == 400);
    CHECK(status_for("GET http://a/ HTTP/1.1\r\n\r\n") == 400);
    CHECK(status_for("GET / HTTP/1.0\r\n\r\n") == 0);
    HttpHead head;
    CHECK(read_head("GET HTTP://a HTTP/1.1\r\nHost: b\r\n\r\n", head).status == 0);
    CHECK(head.host == "a");
    CHECK(head.target == "/");
}

TEST_CASE("a request can have at most a hundred fields", "[gateway][http]") {
    std::string fields = "Host: h\r\n";
    for (std::size_t field = 1; field < fields_max; ++field) {
        fields += "A: b\r\n";
    }
    CHECK(status_for("GET / HTTP/1.1\r\n" + fields + "\r\n") == 0);
    CHECK(status_for("GET / HTTP/1.1\r\n" + fields + "A: b\r\n\r\n") == 431);
}
