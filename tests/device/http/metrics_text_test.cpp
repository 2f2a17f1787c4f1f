#include "http/metrics_text.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace telegate::http {
namespace {

using Kind = MetricsLine::Kind;

/// "name|label=value|..." of a series, with escapes resolved.
std::string shown(std::string_view line) {
    const auto plain = [](std::string_view escaped) {
        std::string text;
        while (!escaped.empty()) {
            text += next_label_character(escaped);
        }
        return text;
    };
    const MetricsLine series = read_metrics_line(line);
    if (series.kind != Kind::series) {
        return "no series";
    }
    std::string text = plain(series.name);
    std::string_view rest = series.labels;
    while (const auto label = next_label(rest)) {
        text += '|' + plain(label->name) + '=' + plain(label->value);
    }
    return text;
}

TEST_CASE("a metrics line has a name, labels and a value", "[device][http]") {
    CHECK(shown("up 1") == "up");
    CHECK(shown("up{} 1") == "up");
    CHECK(shown("\tup {a=\"b\" , c = \"d\",} 1") == "up|a=b|c=d");
    CHECK(shown("job:rate5m{path=\"C:\\\\x\",text=\"say \\\"hi\\\"\\nagain\"} 2") ==
          "job:rate5m|path=C:\\x|text=say \"hi\"\nagain");
    CHECK(shown("{\"my.metric\",\"the label\"=\"x\"} 1") == "my.metric|the label=x");
    CHECK(shown("{\"my.metric\"} 1") == "my.metric");
    CHECK(shown("a 1 1395066363000") == "a");
    CHECK(shown("a 1 -1.5") == "a");
    CHECK(shown("a_total 17 1520879607.789 # {trace_id=\"KOO5S4vxi0o\"} 0.67") == "a_total");
    CHECK(shown("a_total 17 # {} 0.67") == "a_total");
}

TEST_CASE("a value without a number is bad, and a rounded one is uncertain", "[device][http]") {
    CHECK(read_metrics_line("a 1.5e3").value == 1'500);
    CHECK(read_metrics_line("a -0.25").value == -0.25);
    CHECK(std::isnan(read_metrics_line("a NaN").value));
    for (const char* const word : {"+Inf", "-Inf", "Nan", "nan", "+inf", "-Infinity", "INF", "1e999", "-1e999"}) {
        CAPTURE(word);
        const MetricsLine line = read_metrics_line(std::string("a ") + word);
        CHECK(line.kind == Kind::series);
        CHECK(std::isnan(line.value));
        CHECK(line.quality == Quality::bad);
    }
    CHECK(read_metrics_line("a 1e-400").value == 0);
    CHECK(read_metrics_line("a 1e-400").quality == Quality::good);
    CHECK(read_metrics_line("a 9007199254740992").quality == Quality::good);
    CHECK(read_metrics_line("a 9007199254740993").quality == Quality::uncertain);
    CHECK(read_metrics_line("a 18446744073709551615").quality == Quality::uncertain);
    CHECK(read_metrics_line("a 1 1e999").kind == Kind::series);
}

TEST_CASE("comments, empty lines and the end marker are not series", "[device][http]") {
    for (const char* const line : {"", "  ", "# HELP a b", "#", "# TYPE a gauge", " # EOF", "# EOF "}) {
        CAPTURE(line);
        CHECK(read_metrics_line(line).kind == Kind::comment);
    }
    CHECK(read_metrics_line("# EOF").kind == Kind::end);
}

TEST_CASE("an invalid metrics line is a fault", "[device][http]") {
    const std::string line = GENERATE(values<std::string>({"a",
                                                           "a ",
                                                           "1a 1",
                                                           "a b",
                                                           "a 1 b",
                                                           "a 1 2 3",
                                                           "a{ 1",
                                                           "a{b} 1",
                                                           "a{b=c} 1",
                                                           "a{b=\"c} 1",
                                                           "a{b=\"c\" d=\"e\"} 1",
                                                           "a{,} 1",
                                                           "{} 1",
                                                           "{\"a\" b=\"c\"} 1",
                                                           "{b=\"c\"} 1",
                                                           "a{b=\"c\\\"} 1",
                                                           "<html>",
                                                           "a 0x1p3",
                                                           "a 1 # x",
                                                           "\"a\" 1"}));
    CAPTURE(line);
    CHECK(read_metrics_line(line).kind == Kind::fault);
}

TEST_CASE("a selector selects the series with its name and labels", "[device][http]") {
    const auto selects = [](std::string_view selector, std::string_view line) {
        const auto parsed = parse_selector(selector);
        REQUIRE(parsed);
        return parsed->selects(read_metrics_line(line));
    };
    CHECK(selects("up", "up 1"));
    CHECK(selects("up", "up{job=\"x\"} 1"));
    CHECK(!selects("up", "upper 1"));
    CHECK(selects("up{job=\"x\"}", "up{a=\"b\",job=\"x\"} 1"));
    CHECK(!selects("up{job=\"x\"}", "up 1"));
    CHECK(!selects("up{job=\"x\"}", "up{job=\"xy\"} 1"));
    CHECK(!selects("up{job=\"xy\"}", "up{job=\"x\"} 1"));
    CHECK(selects("{\"a.b\",\"c d\"=\"say \\\"hi\\\"\"}", "{\"a.b\",\"c d\"=\"say \\\"hi\\\"\"} 1"));
    for (const char* const text : {"", "up 1", "up{", "up{job}", "1up", "up{job=\"x\"} ", "{job=\"x\"}"}) {
        CAPTURE(text);
        CHECK(!parse_selector(text));
    }
}

}  // namespace
}  // namespace telegate::http
