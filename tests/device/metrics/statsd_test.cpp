#include "metrics/statsd.hpp"

#include "support/catch.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace telegate::metrics;

namespace {

StatsdLine statsd_line(std::string_view text) {
    StatsdLine line;
    CAPTURE(text);
    REQUIRE(read_statsd_line(text, line));
    return line;
}

std::vector<double> numbers_of(std::string_view values) {
    std::vector<double> found;
    while (const auto value = next_statsd_value(values)) {
        found.push_back(value->number);
    }
    return found;
}

std::vector<std::string_view> tags(const StatsdLine& line) {
    return {line.tags.begin(), line.tags.begin() + static_cast<std::ptrdiff_t>(line.tag_count)};
}

}  // namespace

TEST_CASE("a StatsD line has a name, a value and a kind", "[device][metrics][statsd]") {
    const auto [text, kind] = GENERATE(table<std::string, StatsdKind>({{"a.b:1.5|c", StatsdKind::counter},
                                                                       {"a.b:1.5|m", StatsdKind::counter},
                                                                       {"a.b:1.5|g", StatsdKind::gauge},
                                                                       {"a.b:1.5|ms", StatsdKind::timing},
                                                                       {"a.b:1.5|h", StatsdKind::distribution},
                                                                       {"a.b:1.5|d", StatsdKind::distribution}}));
    const StatsdLine line = statsd_line(text);
    CHECK(line.name == "a.b");
    CHECK(line.kind == kind);
    CHECK(numbers_of(line.values) == std::vector<double>{1.5});
    CHECK(line.rate == 1);
    CHECK_FALSE(line.time_s.has_value());
}

TEST_CASE("a DogStatsD line has a rate, sorted tags and a time", "[device][metrics][statsd]") {
    const StatsdLine line = statsd_line("x:1|c|@0.25|#zone:b,env:prod,fast,,env:prod|c:83c0a99c0a54|T1656581400");
    CHECK(line.rate == 0.25);
    CHECK(tags(line) == std::vector<std::string_view>{"env:prod", "fast", "zone:b"});
    CHECK(line.time_s == 1'656'581'400);
}

TEST_CASE("one name can have several values", "[device][metrics][statsd]") {
    CHECK(numbers_of(statsd_line("x:1:2.5:-3|h").values) == std::vector<double>{1, 2.5, -3});
}

TEST_CASE("the sign of a value is kept", "[device][metrics][statsd]") {
    for (const auto& [text, has_sign] :
         std::vector<std::pair<std::string_view, bool>>{{"4", false}, {"+4", true}, {"-4", true}}) {
        std::string_view values = text;
        CHECK(next_statsd_value(values).value().has_sign == has_sign);
    }
}

TEST_CASE("an invalid StatsD line is refused", "[device][metrics][statsd]") {
    const auto* const text =
        GENERATE("", "x", "x:1", "x|c", ":1|c", "x:|c", "x:1|", "x:1|q", "x:one|c", "x:1:|c", "x:1::2|c", "x:0x10|g",
                 "x:1|c|@nan", "x:1|c|@0", "x:1|c|@2", "x:1|c|@", "x:1|c|@x", "x:1|c|Tsoon", "x:1|c|T", "x:+-1|g",
                 "x:user-7|s", "_e{5,4}:title|text", "_sc|name|0", "x\x01y:1|c", "x:1 |c", "x: 1|c");
    StatsdLine line;
    CAPTURE(text);
    CHECK_FALSE(read_statsd_line(text, line));
}

TEST_CASE("a StatsD line with too many tags is refused", "[device][metrics][statsd]") {
    const auto with_tags = [](std::size_t count) {
        std::string text = "x:1|c|#";
        for (std::size_t tag = 0; tag < count; ++tag) {
            text += 't' + std::to_string(tag) + ',';
        }
        return text;
    };
    StatsdLine line;
    CHECK(read_statsd_line(with_tags(StatsdLine::tags_max), line));
    CHECK_FALSE(read_statsd_line(with_tags(StatsdLine::tags_max + 1), line));
}

TEST_CASE("every prefix of a StatsD line is read or refused", "[device][metrics][statsd]") {
    const std::string whole = "api.latency:3.25:+4|ms|@0.5|#b:2,a|T1656581400";
    StatsdLine line;
    for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
        const std::string part = whole.substr(0, bytes);  // separate memory, so sanitizers detect reads beyond it
        CAPTURE(part);
        if (read_statsd_line(part, line)) {
            CHECK(line.name == "api.latency");
            CHECK_FALSE(numbers_of(line.values).empty());
        }
    }
}
