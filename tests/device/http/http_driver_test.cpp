#include "http_bench.hpp"
#include "support/scratch_dir.hpp"

#include <sys/stat.h>

#include <fstream>
#include <stdexcept>

namespace telegate::test {
namespace {

using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using Status = ReadResult::Status;

HttpDriverOptions with(HttpDriverOptions options, std::vector<HttpChannel> channels) {
    options.channels = std::move(channels);
    return options;
}

TEST_CASE("each value of a JSON response is a channel", "[device][http]") {
    HttpPeer peer;
    peer.answer(http_answer(R"({"pump":{"speed":1450,"flow":2.5,"on":true,"name":"P1","fault":null},"t":[1,2]})"));
    DriverBench bench(make_http_driver(peer.options()));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("pump.speed").value.integer == 1'450);
    CHECK(bench.sample_of("pump.flow").value.real == 2.5);
    CHECK(bench.sample_of("pump.on").value.boolean);
    CHECK(bench.sample_of("pump.name").text() == "P1");
    CHECK(bench.sample_of("pump.fault").quality == Quality::bad);
    CHECK(bench.sample_of("t.1").value.integer == 2);
    CHECK(bench.sample_of("fields.refused").value.integer == 0);
    CHECK(bench.samples().size() == 8);
}

TEST_CASE("JSON pointers select the channels, which have configured units", "[device][http]") {
    HttpPeer peer;
    peer.answer(http_answer(R"({"pump":{"speed":1450,"more":{}},"other":1})"));
    DriverBench bench(make_http_driver(with(
        peer.options(), {{"speed", "rpm", "/pump/speed"}, {"gone", "", "/pump/gone"}, {"more", "", "/pump/more"}})));
    REQUIRE(bench.reads_ok());
    CHECK(bench.what == "2 of 3 sources have no value, first: /pump/gone");
    CHECK(bench.sample_of("speed").value.integer == 1'450);
    CHECK(bench.channels().at(bench.sample_of("speed").channel).unit == "rpm");
    CHECK(bench.sample_of("gone").quality == Quality::bad);
    CHECK(bench.sample_of("more").quality == Quality::bad);
    CHECK(bench.samples().size() == 3);

    peer.answer(http_answer("{}"));
    CHECK(bench.read().status == Status::failed);
    CHECK_THAT(bench.what, EndsWith(": 3 of 3 sources have no value, first: /pump/speed"));
}

TEST_CASE("any successful response with values is read", "[device][http]") {
    HttpPeer peer;
    peer.answer(
        http_answer("{\"a\":1}", "", GENERATE("203 Non-Authoritative Information", "206 Partial Content", "299 ?")));
    DriverBench bench(make_http_driver(peer.options()));
    CHECK(bench.reads_ok());
    CHECK(bench.sample_of("a").value.integer == 1);
}

TEST_CASE("each series of a Prometheus response is a channel", "[device][http]") {
    HttpPeer peer;
    peer.answer(
        http_answer("# TYPE http_requests_total counter\n"
                    "http_requests_total{method=\"get\",code=\"200\"} 1027 1395066363000\r\n"
                    "temperature_celsius -0.5\nbroken NaN\n"));
    DriverBench bench(make_http_driver(peer.options(HttpFormat::prometheus)));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("http_requests_total.get.200").value.real == 1'027);
    CHECK(bench.sample_of("temperature_celsius").value.real == -0.5);
    CHECK(bench.sample_of("broken").quality == Quality::bad);
    CHECK(bench.samples().size() == 4);
    CHECK_THAT(peer.last_request(), Contains("\r\nAccept: application/openmetrics-text"));
}

TEST_CASE("metric names and labels select the channels", "[device][http]") {
    HttpPeer peer;
    peer.answer(http_answer("up{job=\"a\"} 1\nup{job=\"b\"} 0\nload 0.5\n"));
    DriverBench bench(make_http_driver(
        with(peer.options(HttpFormat::prometheus),
             {{"a", "", "up{job=\"a\"}"}, {"any", "", "up"}, {"load", "1", "load"}, {"gone", "", "gone"}})));
    REQUIRE(bench.reads_ok());
    CHECK(bench.what == "2 of 4 sources have no value, first: up (2 series match)");
    CHECK(bench.sample_of("a").value.real == 1);
    CHECK(bench.sample_of("any").quality == Quality::bad);
    CHECK(bench.sample_of("load").value.real == 0.5);
    CHECK(bench.sample_of("gone").quality == Quality::bad);
}

TEST_CASE("an OpenMetrics response without # EOF is refused", "[device][http]") {
    HttpPeer peer;
    const std::string type = "Content-Type: application/openmetrics-text; version=1.0.0\r\n";
    peer.answer(http_answer("a 1\n# EOF\n", type));
    DriverBench bench(make_http_driver(peer.options(HttpFormat::prometheus)));
    CHECK(bench.reads_ok());
    peer.answer(http_answer("a 1\n", type));
    CHECK(!bench.reads_ok());
    CHECK_THAT(bench.what, EndsWith("the response ends without # EOF"));
    peer.answer(http_answer("a 1\n# EOF\nb 1\n", type));
    CHECK(!bench.reads_ok());
    CHECK_THAT(bench.what, EndsWith("line 3 is not a metric: \"b 1\""));
}

TEST_CASE("readings share one connection, and a new one is opened after the server has closed it", "[device][http]") {
    HttpPeer peer;
    peer.answer(http_answer("{\"a\":1}"));
    DriverBench bench(make_http_driver(peer.options()));
    for (int reading = 0; reading < 3; ++reading) {
        REQUIRE(bench.reads_ok());
    }
    CHECK(peer.connections() == 1);
    peer.answer(http_answer("{\"a\":2}"), true);
    REQUIRE(bench.reads_ok());
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("a").value.integer == 2);
    CHECK(peer.connections() == 2);
}

TEST_CASE("a server that closes an idle connection during a request does not fail the reading", "[device][http]") {
    HttpPeer peer;
    peer.answer(http_answer("{\"a\":1}"));
    DriverBench bench(make_http_driver(peer.options()));
    REQUIRE(bench.reads_ok());
    peer.answer("", true);  // accepts the request and closes, like a server whose idle timeout has expired
    CHECK(!bench.reads_ok());
    CHECK(peer.connections() == 2);  // requested again over a new connection
}

TEST_CASE("bytes that a server sends without a request are not taken for the next response", "[device][http]") {
    HttpPeer peer;
    peer.answer(http_answer("{\"a\":1}"));
    DriverBench bench(make_http_driver(peer.options()));
    REQUIRE(bench.reads_ok());
    const std::string unasked = GENERATE(values<std::string>(
        {http_answer("{\"a\":666}"), http_answer("", "Connection: close\r\n", "408 Request Timeout"), "x"}));
    REQUIRE(peer.send_unasked(unasked));
    peer.answer(http_answer("{\"a\":2}"));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("a").value.integer == 2);
    CHECK(peer.connections() == 2);
}

TEST_CASE("names beyond channels_max are dropped and counted", "[device][http]") {
    HttpPeer peer;
    peer.answer(http_answer(R"({"a":1,"b":2,"c":3})"));
    HttpDriverOptions options = peer.options();
    options.channels_max = 2;
    DriverBench bench(make_http_driver(options));
    REQUIRE(bench.reads_ok());
    CHECK(bench.samples().size() == 3);
    CHECK(bench.sample_of("fields.refused").value.integer == 1);
}

TEST_CASE("the token is read before each request and is only sent to the server of the URL", "[device][http]") {
    HttpPeer peer;
    HttpPeer other;
    const ScratchDir folder;
    HttpDriverOptions options = peer.options();
    options.token_file = folder.path("token");
    DriverBench bench(make_http_driver(options));

    CHECK(!bench.reads_ok());
    CHECK_THAT(bench.what, EndsWith("token_file: " + options.token_file + " cannot be read"));

    std::ofstream(options.token_file) << "first\n";
    peer.answer(http_answer("{\"a\":1}"));
    REQUIRE(bench.reads_ok());
    CHECK_THAT(peer.last_request(), Contains("\r\nAuthorization: Bearer first\r\n"));

    std::ofstream(options.token_file) << "second";
    REQUIRE(bench.reads_ok());
    CHECK_THAT(peer.last_request(), Contains("\r\nAuthorization: Bearer second\r\n"));

    peer.answer(http_answer("", "Location: " + other.url() + "\r\n", "302 Found"));
    CHECK(!bench.reads_ok());
    CHECK_THAT(bench.what, EndsWith("response status 302 Found; redirects are not followed"));
    CHECK(other.connections() == 0);

    std::ofstream(options.token_file) << "two lines\nX-Smuggled: 1\n";
    CHECK(!bench.reads_ok());
    CHECK_THAT(bench.what, EndsWith("is not one line of up to 4096 visible characters"));
}

TEST_CASE("invalid options are refused with their names", "[device][http]") {
    const auto refusal = [](const auto& change) {
        HttpDriverOptions options;
        options.url = "http://127.0.0.1/";
        change(options);
        try {
            (void)make_http_driver(options);
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    using Options = HttpDriverOptions;
    CHECK(refusal([](Options&) {}) == "none");
    CHECK_THAT(refusal([](Options& o) { o.url = "gopher://x"; }), StartsWith("url: invalid URL: \"gopher://x\""));
    CHECK(refusal([](Options& o) {
              o.channels = {{"a", "", "b"}};
          }) ==
          "channel \"a\": source: not a JSON pointer: \"b\"; must be /MEMBER/..., with ~1 for / and "
          "~0 for ~");
    CHECK(refusal([](Options& o) {
              o.format = HttpFormat::prometheus;
              o.channels = {{"a", "", "/b"}};
          }) == "channel \"a\": source: not a metric: \"/b\"; must be NAME or NAME{LABEL=\"VALUE\",...}");
    CHECK(refusal([](Options& o) {
              o.channels = {{"a", "", "/b"}, {"c", "", "/b"}};
          }) == "channel \"c\": source: duplicate source: \"/b\"; must be used by only one channel");
}

TEST_CASE("missing files and unknown hosts of an http device are reported without a request", "[device][http]") {
    const ScratchDir folder;
    HttpPeer peer;
    HttpDriverOptions options = peer.options();
    CHECK(make_http_driver(options)->missing_parts().empty());
    options.token_file = folder.path("token");
    options.ca_file = folder.path("ca");
    const auto missing = make_http_driver(options)->missing_parts();
    REQUIRE(missing.size() == 2);
    CHECK(missing[0].option == "token_file");
    CHECK(missing[1].option == "ca_file");
    CHECK(peer.connections() == 0);
}

TEST_CASE("a ca_file that is a pipe fails the reading and does not block it", "[device][http]") {
    const ScratchDir folder;
    HttpPeer peer;
    HttpDriverOptions options = peer.options();
    options.url.replace(0, options.url.find(':'), "https");
    options.ca_file = folder.path("ca");
    REQUIRE(::mkfifo(options.ca_file.c_str(), 0600) == 0);
    DriverBench bench(make_http_driver(options));
    CHECK(bench.read().status == Status::failed);
    CHECK_THAT(bench.what, EndsWith("cannot load certificates from ca_file"));
}

TEST_CASE("an http device with sources declares all of its channels", "[device][http]") {
    const HttpPeer peer;
    CHECK(make_http_driver(peer.options())->later_channels() == std::nullopt);
    CHECK(make_http_driver(with(peer.options(), {{"a", "", "/a"}}))->later_channels() == std::vector<std::string>());
}

}  // namespace
}  // namespace telegate::test
