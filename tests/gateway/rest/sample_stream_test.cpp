#include "rest/sample_stream.hpp"
#include "gateway/rest/rest_call.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

constexpr const char* epoch_text = "1795217494123";

struct StreamEvent {
    std::string id;
    std::string type;
    json data;
};

/// A client of /stream whose history is written by the test.
struct Streaming : RestCaller {
    Streaming() {
        gateway.published_from = [this](std::int64_t epoch_ms, std::uint64_t position, std::int64_t before_ms) {
            CHECK(before_ms == gateway.sample_text.epoch_ms());
            requested_from = {epoch_ms, position};
            return published_from;
        };
    }
    void write(ChannelId channel, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const TelemetrySample sample = numbered(channel, ++seq);
            gateway.history.consume({&sample, 1});
        }
    }
    HttpResponse open(const std::string& query = "", const std::string& last_id = "") {
        fields["Last-Event-ID"] = last_id;
        response = (*this)("GET", "/stream" + query);
        return response;
    }
    /// Pulls everything that is available now.
    std::vector<StreamEvent> pull(std::size_t bytes_max = 65'536) {
        std::string text;
        StreamState state = StreamState::more;
        for (int calls = 0; state == StreamState::more && calls < 10'000; ++calls) {
            std::string part;
            state = response.stream(part, bytes_max);
            longest = std::max(longest, part.size());
            text += part;
        }
        CHECK(state == (gateway.streams.is_ending() ? StreamState::ended : StreamState::waiting));
        return parse(text);
    }
    static std::vector<StreamEvent> parse(const std::string& text) {
        std::vector<StreamEvent> events;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find("\n\n", at);
            REQUIRE(end != std::string::npos);
            const std::string block = '\n' + text.substr(at, end - at) + '\n';
            const auto value = [&](const std::string& name) {
                const std::size_t found = block.find('\n' + name + ": ");
                const std::size_t begin = found + name.size() + 3;
                return found == std::string::npos ? "" : block.substr(begin, block.find('\n', begin) - begin);
            };
            const std::string data = value("data");
            events.push_back({value("id"), value("event"), data.empty() ? json() : json::parse(data)});
            at = end + 2;
        }
        return events;
    }

    ChannelId a = gateway.channels.add(DeviceId{0}, "host", "a", "%").value();
    ChannelId b = gateway.channels.add(DeviceId{0}, "host", "b", "%").value();
    ChannelId c = gateway.channels.add(DeviceId{0}, "host", "c", "%").value();
    std::uint64_t seq = 0;
    std::size_t longest = 0;
    std::optional<std::uint64_t> published_from;  // any position of any past epoch
    StreamPosition requested_from;
    HttpResponse response;
};

}  // namespace

TEST_CASE("a stream sends each sample that is published after its start", "[gateway][stream]") {
    Streaming s;
    s.write(s.a, 5);
    CHECK(s.open().content_type == "text/event-stream");
    CHECK(s.pull().empty());
    s.write(s.a, 2);
    const std::vector<StreamEvent> events = s.pull();
    REQUIRE(events.size() == 2);
    CHECK(events[0].id == std::string(epoch_text) + "-5");
    CHECK(events[0].type == "sample");
    CHECK(events[0].data["seq"] == 6);
    CHECK(events[0].data["channel"] == "a");
    CHECK(events[1].id == std::string(epoch_text) + "-6");
    CHECK(s.pull().empty());
}

TEST_CASE("a stream sends topics that begin with one of its prefixes", "[gateway][stream]") {
    Streaming s;
    s.open("?prefix=host/b&prefix=boiler/");
    s.write(s.a, 1);
    s.write(s.b, 1);
    const std::vector<StreamEvent> events = s.pull();
    REQUIRE(events.size() == 1);
    CHECK(events[0].data["channel"] == "b");
    CHECK(events[0].id == std::string(epoch_text) + "-1");
}

TEST_CASE("a stream resumes after the last event, without a gap or a duplicate", "[gateway][stream]") {
    Streaming s;
    s.write(s.a, 10);
    s.open("", std::string(epoch_text) + "-3");
    const std::vector<StreamEvent> events = s.pull();
    REQUIRE(events.size() == 6);
    CHECK(events.front().data["seq"] == 5);
    CHECK(events.back().data["seq"] == 10);
}

TEST_CASE("samples that are no longer retained are reported as a gap with its size and position", "[gateway][stream]") {
    Streaming s;
    s.write(s.a, 2'000);  // of which 1024 are retained
    s.open("", std::string(epoch_text) + "-99");
    const std::vector<StreamEvent> events = s.pull();
    REQUIRE(events.size() == 1'025);
    CHECK(events[0].type == "gap");
    CHECK(events[0].data == json::parse(R"({"reason":"overwritten","epoch":1795217494123,"missed":876,)"
                                        R"("first_position":100,"last_position":975})"));
    CHECK(events[0].id == std::string(epoch_text) + "-975");
    CHECK(events[1].data["seq"] == 977);
}

TEST_CASE("a resumed stream sends the retained samples of a quiet channel, with one gap before each of them",
          "[gateway][stream]") {
    Streaming s;
    History kept(65'536, Duration(0), nullptr, 16);  // 768 of all channels together
    SampleText text(s.gateway.channels, 1);
    const auto write = [&](ChannelId channel, std::uint64_t seq) {
        const TelemetrySample sample = numbered(channel, seq);
        kept.consume({&sample, 1});
    };
    for (std::uint64_t seq = 1; seq <= 20'000; ++seq) {
        write(s.a, seq);
        if (seq % 10'000 == 0) {
            write(s.b, seq / 10'000);
        }
        if (seq == 15'000) {
            write(s.c, 1);
        }
    }
    SampleStream stream({kept, text}, {"host/b"}, {text.epoch_ms(), 0}, {});
    std::string out;
    while (stream.pull(out, 1'000'000) == StreamState::more) {
    }
    const std::vector<StreamEvent> events = Streaming::parse(out);
    REQUIRE(events.size() >= 4);
    CHECK(events[0].data["first_position"] == 0);
    CHECK(events[0].data["last_position"] == 9'999);
    CHECK(events[0].data["missed"] == 10'000);
    CHECK(events[1].data["seq"] == 1);
    CHECK(events[2].data["missed"] == 20'003 - 768 - 10'001 - 1);  // not that of channel c
    CHECK(events[2].data["first_position"] == 10'001);
    CHECK(events[2].data["last_position"] == 20'003 - 768 - 1);
    CHECK(events[3].data["seq"] == 2);
    CHECK(events[3].id == "1-20002");
}

TEST_CASE("a stream that falls behind reports a gap too", "[gateway][stream]") {
    Streaming s;
    s.open();
    s.write(s.a, 1);
    CHECK(s.pull().size() == 1);
    s.write(s.a, 1'034);
    const std::vector<StreamEvent> events = s.pull();
    CHECK(events.size() == 1'025);
    CHECK(events[0].data["missed"] == 10);
    CHECK(events[1].data["seq"] == 12);
}

TEST_CASE("an id of an earlier epoch starts the stream again and reports it", "[gateway][stream]") {
    Streaming s;
    s.write(s.a, 3);
    s.open("", "1795000000000-77777");
    const std::vector<StreamEvent> events = s.pull();
    REQUIRE(events.size() == 4);
    CHECK(events[0].type == "gap");
    CHECK(events[0].id.empty());
    CHECK(events[0].data == json::parse(R"({"reason":"restart","epoch":1795217494123})"));
    CHECK(events[1].data["seq"] == 1);
}

TEST_CASE("an id of an earlier epoch reports how much was missed in between, if known", "[gateway][stream]") {
    Streaming s;
    s.published_from = 42;
    s.write(s.a, 3);
    s.open("", "1795000000000-77777");
    const std::vector<StreamEvent> events = s.pull();
    REQUIRE(events.size() == 4);
    CHECK(events[0].data == json::parse(R"({"reason":"restart","epoch":1795217494123,"missed":42})"));
    CHECK(s.requested_from == StreamPosition{1'795'000'000'000, 77'778});
}

TEST_CASE("a stream that ends sends all published samples and their number", "[gateway][stream]") {
    Streaming s;
    s.write(s.a, 2'000);  // of which 1024 are retained
    s.open("?prefix=host/a", std::string(epoch_text) + "-99");
    s.write(s.b, 1);
    s.gateway.streams.end();
    const std::vector<StreamEvent> events = s.pull(1'000);
    REQUIRE(events.size() == 1 + 1'023 + 1);
    CHECK(events.end()[-2].data["seq"] == 2'000);
    CHECK(events.back().type == "end");
    CHECK(events.back().id == std::string(epoch_text) + "-2000");
    CHECK(events.back().data == json::parse(R"({"reason":"shutdown","epoch":1795217494123,"sent":1023,"missed":877})"));
}

TEST_CASE("a client whose prefix matches no new samples gets ids from which it can resume", "[gateway][stream]") {
    Streaming s;
    s.open("?prefix=host/b");
    s.write(s.a, 600);
    const std::vector<StreamEvent> events = s.pull();
    REQUIRE_FALSE(events.empty());
    CHECK(events.back().type.empty());
    CHECK(events.back().data.is_null());
    CHECK(events.back().id >= std::string(epoch_text) + "-255");
}

TEST_CASE("one pull returns little more than requested", "[gateway][stream]") {
    Streaming s;
    s.open();
    s.write(s.a, 1'000);
    CHECK(s.pull(1'000).size() == 1'000);
    CHECK(s.longest < 1'000 + 512);
}

TEST_CASE("an invalid id or format is refused by name", "[gateway][stream]") {
    Streaming s;
    s.write(s.a, 3);
    const std::string id = GENERATE("x", "1795217494123", "1795217494123-", "1795217494123-3", "1795217494123-1x", "-");
    CAPTURE(id);
    const json problem = json::parse(s.open("", id).body);
    CHECK(problem["status"] == 422);
    CHECK(problem["errors"][0]["parameter"] == "Last-Event-ID");
    CHECK(json::parse(s.open("?format=xml").body)["errors"][0]["parameter"] == "format");
    CHECK(s.gateway.streams.count() == 0);
}

TEST_CASE("streams are counted while they are open", "[gateway][stream]") {
    Streaming s;
    s.open();
    CHECK(s.gateway.streams.count() == 1);
    CHECK(s.gateway.streams_opened == 1);
    s.response = {};
    CHECK(s.gateway.streams.queue_delay_max() > 0ms);
}
