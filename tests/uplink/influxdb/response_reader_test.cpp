#include "influxdb/response_reader.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace telegate::uplink {
namespace {

/// Reads a response in pieces of a size.
std::optional<HttpResponse> read(std::string_view text, std::size_t piece) {
    ResponseReader reader;
    std::optional<HttpResponse> response;
    while (!text.empty() && !response) {
        response = reader.read(text.substr(0, piece));
        text.remove_prefix(std::min(piece, text.size()));
    }
    CHECK(text.empty());
    return response;
}

std::string fault_of(const std::string& text) {
    ResponseReader reader;
    try {
        return reader.read(text) ? "complete" : "incomplete";
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("a response is read from pieces of any size", "[uplink][influxdb]") {
    const std::size_t piece = GENERATE(1U, 2U, 7U, 1'000U);
    CAPTURE(piece);
    const auto stored = read("HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n", piece);
    REQUIRE(stored);
    CHECK(stored->status == 204);
    CHECK(stored->reason == "No Content");
    CHECK(stored->keeps_open);
    const auto refused =
        read("HTTP/1.1 400 Bad Request\r\nContent-Length: 33\r\n\r\n{\"error\":\"field type\\n conflict\"}", piece);
    REQUIRE(refused);
    CHECK(refused->error == "field type  conflict");
    const auto busy = read(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nRetry-After: 7\r\nConnection: close\r\n"
        "Transfer-Encoding: chunked\r\n\r\n5\r\nlater\r\n0\r\n\r\n",
        piece);
    REQUIRE(busy);
    CHECK(busy->retry_after.count() == 7);
    CHECK(busy->error == "later");
    CHECK_FALSE(busy->keeps_open);
}

TEST_CASE("a response may end with the connection", "[uplink][influxdb]") {
    ResponseReader reader;
    CHECK_FALSE(reader.end());
    CHECK_FALSE(reader.read("HTTP/1.0 500 Internal Server Error\r\n\r\nbroken"));
    const auto response = reader.end();
    REQUIRE(response);
    CHECK(response->status == 500);
    CHECK(response->error == "broken");
    CHECK_FALSE(response->keeps_open);
    CHECK_FALSE(reader.read("HTTP/1.1 204 No"));
    CHECK_FALSE(reader.end());
}

TEST_CASE("responses are limited, and other bytes are a fault", "[uplink][influxdb]") {
    using Catch::Contains;
    CHECK_THAT(fault_of("-ERR unknown command\r\n\r\n"), Contains("does not speak HTTP"));
    CHECK_THAT(fault_of("HTTP/1.1 204 No Content\r\nX: " + std::string(70'000, 'x')), Contains("header limit"));
    for (const std::string head :
         {"HTTP/1.1 400 Bad Request\r\nContent-Length: 70000\r\n\r\n",
          "HTTP/1.1 400 Bad Request\r\nContent-Length: 7000000\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n"}) {
        ResponseReader reader;
        const auto cut = reader.read(head + std::string(70'000, 'x'));
        REQUIRE(cut);
        CHECK(cut->status == 400);
        CHECK(cut->error.size() == ResponseReader::error_bytes_max);
    }
    ResponseReader of_proxy;
    of_proxy.reset(false);
    const auto refused = of_proxy.read("HTTP/1.1 407 Authenticate\r\nContent-Length: 4\r\n\r\npage");
    REQUIRE(refused);
    CHECK(refused->status == 407);
    CHECK_THAT(fault_of("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"),
               Contains("more than one response"));
    const auto long_error =
        read("HTTP/1.1 400 Bad Request\r\nContent-Length: 1000\r\n\r\n" + std::string(1'000, 'x'), 1'000'000);
    REQUIRE(long_error);
    CHECK(long_error->error.size() == ResponseReader::error_bytes_max);
    const std::string deep(10'000, '[');
    const auto nested = read("HTTP/1.1 400 Bad Request\r\nContent-Length: 10000\r\n\r\n" + deep, 1'000'000);
    REQUIRE(nested);
    CHECK(nested->error.starts_with("[[["));
}

}  // namespace telegate::uplink
