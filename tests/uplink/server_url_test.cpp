#include "uplink/server_url.hpp"

#include "support/catch.hpp"

#include <string>

namespace telegate::uplink {

TEST_CASE("urls of NATS servers have a host and an optional port", "[uplink][nats]") {
    CHECK(parse_nats_url("nats://example.com")->port == "4222");
    CHECK(parse_nats_url("nats://example.com:4333")->host == "example.com");
    CHECK(parse_nats_url("nats://[::1]:4333")->host == "::1");
    CHECK_FALSE(parse_nats_url("nats://example.com")->has_tls);
    CHECK(parse_nats_url("tls://example.com")->has_tls);
    const auto* const text = GENERATE("", "nats://", "nats://:4222", "http://a", "nats://a:", "nats://a:0",
                                      "nats://a:65536", "nats://a:1x", "nats://u:p@a", "nats://[::1", "nats://a/b");
    CAPTURE(text);
    CHECK_FALSE(parse_nats_url(text));
}

TEST_CASE("urls of HTTP servers may have a path", "[uplink][influxdb]") {
    CHECK(parse_http_url("http://example.com")->port == "80");
    CHECK(parse_http_url("https://example.com")->port == "443");
    CHECK(parse_http_url("https://example.com")->has_tls);
    CHECK(parse_http_url("http://[::1]:8428/insert/0//")->path == "/insert/0");
    CHECK(parse_http_url("http://example.com/")->path.empty());
    const auto* const text = GENERATE("http://", "http:///a", "nats://a", "http://u:p@a/", "http://a/b c", "http://a?b",
                                      "http://a/?b", "http://a/#b", "http://a/\r\n", "http://a:0/");
    CAPTURE(text);
    CHECK_FALSE(parse_http_url(text));
}

TEST_CASE("subjects to publish to have no wildcards, blanks or empty words", "[uplink][nats]") {
    const auto [text, valid] = GENERATE(Catch::Generators::table<std::string, bool>({{"samples", true},
                                                                                     {"telegate.samples.a-1", true},
                                                                                     {"", false},
                                                                                     {".a", false},
                                                                                     {"a.", false},
                                                                                     {"a..b", false},
                                                                                     {"a.*", false},
                                                                                     {"a.>", false},
                                                                                     {"a b", false},
                                                                                     {"a\r\n", false}}));
    CAPTURE(text);
    CHECK(is_nats_subject(text) == valid);
}

}  // namespace telegate::uplink
