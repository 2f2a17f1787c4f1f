#include "http/http_request.hpp"

#include "support/catch.hpp"

#include <string>

namespace telegate::http {
namespace {

using Catch::Contains;

TEST_CASE("a URL is split into server and target", "[device][http]") {
    struct Case {
        const char* text;
        bool is_tls;
        const char* host;
        const char* port;
        const char* target;
    };
    const auto [text, is_tls, host, port, target] = GENERATE(values<Case>({
        {"http://example.org", false, "example.org", "80", "/"},
        {"https://example.org", true, "example.org", "443", "/"},
        {"http://127.0.0.1:9100/metrics", false, "127.0.0.1", "9100", "/metrics"},
        {"http://[::1]:8080/a/b?c=d&e=/", false, "::1", "8080", "/a/b?c=d&e=/"},
        {"HTTP://example.org/A", false, "example.org", "80", "/A"},
        {"hTTpS://example.org", true, "example.org", "443", "/"},
        {"https://plc?format=json", true, "plc", "443", "/?format=json"},
    }));
    CAPTURE(text);
    const Url url = parse_url(text);
    CHECK(url.is_tls == is_tls);
    CHECK(url.server.host == host);
    CHECK(url.server.port == port);
    CHECK(url.target == target);
}

TEST_CASE("an invalid URL is refused with what is allowed", "[device][http]") {
    const std::string text = GENERATE(
        values<std::string>({"", "example.org", "ftp://x", "http://", "http://:80", "http://x:0", "http://x:65536",
                             "http://x:", "http://[::1", "http://user:secret@x/", "http://x/a b", "http://x/#part",
                             "http://x/\r\nHost: y", "http://x/\x80", "HTTP:/x"}));
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_url(text), Contains("url: invalid URL: \"" + text + "\"; must be http://HOST"));
}

}  // namespace
}  // namespace telegate::http
