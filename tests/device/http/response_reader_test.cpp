#include "http/response_reader.hpp"

#include "support/catch.hpp"

#include <string>
#include <string_view>

namespace telegate::http {
namespace {

using Status = ResponseReader::Status;

struct Read {
    Status status = Status::need_more;
    std::string body;
    int code = 0;
    bool keeps_alive = false;
};

/// Reads a response in parts of some length, and then the end of the connection.
Read read_response(std::string_view text, std::size_t part = 1'000'000, std::size_t body_bytes_max = 100) {
    Read result;
    ResponseReader reader(body_bytes_max, result.body);
    result.status = Status::need_more;
    for (std::size_t at = 0; at < text.size() && result.status == Status::need_more; at += part) {
        result.status = reader.feed(text.substr(at, part));
    }
    result.keeps_alive = result.status == Status::complete && reader.keeps_alive();
    result.status = result.status == Status::need_more ? reader.end() : result.status;
    result.code = reader.head().status;
    return result;
}

}  // namespace

TEST_CASE("a response is read as RFC 9110 and RFC 9112 require of a client", "[device][http]") {
    const auto [text, body, keeps_alive] = GENERATE(table<std::string, std::string, bool>({
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "{}", true},
        {"HTTP/1.1 200\nContent-Length:2\n\n{}", "{}", true},
        {"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 9\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
         "{}", true},
        {"HTTP/1.1 200 OK\r\nX: one\r\n  two\r\n\tthree\r\nContent-Length:\r\n 2\r\n\r\n{}", "{}", true},
        {"HTTP/1.1 200 OK\r\n  ignored\r\nContent-Length: 2\r\n\r\n{}", "{}", true},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2, 2\r\n\r\n{}", "{}", true},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: Chunked\r\n\r\n2;a=\"b\"\r\n{}\r\n0\r\nX: "
         "y\r\n\r\n",
         "{}", false},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n01 \r\n}\r\n0\r\n\r\n", "{}", true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: , chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "{}", true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity , Chunked,\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "{}", true},
        {"HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\n{}", "{}", false},
        {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", "{}", false},
        {"HTTP/1.0 200 OK\r\nConnection: close, x\r\nContent-Length: 2\r\n\r\n{}", "{}", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n", "{}", false},
        {"HTTP/1.1 200 OK\r\n\r\n{}", "{}", false},
        {"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "", true},
    }));
    CAPTURE(text);
    const std::size_t part = GENERATE(1U, 3U, 1'000'000U);
    const Read read = read_response(text, part);
    CHECK(read.status == Status::complete);
    CHECK(read.body == body);
    CHECK((read.keeps_alive == keeps_alive || part != 1'000'000U));
}

TEST_CASE("a response with an ambiguous length or an invalid head is refused", "[device][http]") {
    const std::string text = GENERATE(values<std::string>({
        "",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 10\r\n\r\n{\"t\":21.5}",
        "HTTP/1.1 200 OK\r\nContent-Length: 3, 10\r\n\r\n{\"t\":21.5}",
        "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 2,\r\n 3\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\n: empty\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 2",
        "HTTP/1.1 103 Early Hints\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n{}",
        "HTTP/1.1 2000 OK\r\n\r\n{}",
        "HTTP/1.1 099 OK\r\n\r\n{}",
        "HTTP/2 200 OK\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
        "HTTP/1.1 200 OK\r\n" + std::string(ResponseReader::head_bytes_max, 'x'),
    }));
    CAPTURE(text.substr(0, 100));
    CHECK(read_response(text).status == Status::invalid);
    CHECK(read_response(text, 7).status == Status::invalid);
}

TEST_CASE("interim responses without an end are limited", "[device][http]") {
    std::string text;
    while (text.size() <= ResponseReader::head_bytes_max) {
        text += "HTTP/1.1 102 Processing\r\n\r\n";
    }
    CHECK(read_response(text).status == Status::invalid);
}

TEST_CASE("a body beyond the limit is refused", "[device][http]") {
    CHECK(read_response("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n").status == Status::too_long);
    CHECK(read_response("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n").status == Status::too_long);
    CHECK(read_response("HTTP/1.1 200 OK\r\n\r\n" + std::string(101, 'x')).status == Status::too_long);
    CHECK(read_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n").status ==
          Status::too_long);
    const std::string many_chunks = "1\r\nx\r\n";
    std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (std::size_t bytes = 0; bytes < 100; ++bytes) {
        text += many_chunks;
    }
    CHECK(read_response(text + "0\r\n\r\n").status == Status::complete);
    CHECK(read_response(text + many_chunks).status == Status::too_long);
}

}  // namespace telegate::http
