#include "metrics/influx.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

using namespace telegate::metrics;

namespace {

InfluxLine influx_line(std::string_view text) {
    InfluxLine line;
    CAPTURE(text);
    REQUIRE(read_influx_line(text, line));
    return line;
}

std::string name_text(std::string_view raw) {
    std::string text;
    while (!raw.empty()) {
        text.push_back(next_influx_character(raw));
    }
    return text;
}

std::string influx_text(const InfluxField& field) {
    std::string text;
    std::string_view raw = std::get<InfluxText>(field.value).raw;
    while (!raw.empty()) {
        text.push_back(next_influx_text_character(raw));
    }
    return text;
}

const TextNumber& number(const InfluxField& field) {
    return std::get<TextNumber>(field.value);
}

std::vector<InfluxField> fields(const InfluxLine& line) {
    std::vector<InfluxField> found;
    std::string_view rest = line.fields;
    while (const auto field = next_influx_field(rest)) {
        found.push_back(*field);
    }
    CHECK(rest.empty());
    return found;
}

}  // namespace

TEST_CASE("an Influx line has a measurement, tags, fields and a time", "[device][metrics][influx]") {
    const InfluxLine line = influx_line("cpu,zone=b,host=a usage=12.5,count=3i 1556813561098000000");
    CHECK(line.measurement == "cpu");
    REQUIRE(line.tag_count == 2);
    CHECK(line.tags[0].key == "host");  // sorted by key, regardless of the order in the line
    CHECK(line.tags[0].value == "a");
    CHECK(line.tags[1].key == "zone");
    CHECK(line.time == 1'556'813'561'098'000'000);
    const auto found = fields(line);
    REQUIRE(found.size() == 2);
    CHECK(found[0].key == "usage");
    CHECK(number(found[0]).real == 12.5);
    CHECK(number(found[1]).whole == 3);
}

TEST_CASE("an Influx line may have no tags and no time", "[device][metrics][influx]") {
    const InfluxLine line = influx_line("up value=1");
    CHECK(line.tag_count == 0);
    CHECK_FALSE(line.time.has_value());
    CHECK(fields(line).size() == 1);
}

TEST_CASE("fields are numbers, whole numbers, booleans and texts", "[device][metrics][influx]") {
    const auto found =
        fields(influx_line("m a=-1.5e3,b=-7i,c=7u,d=t,e=False,f=\"x, y=\\\"z\\\" \\\\\",g=TRUE,h=\"\",i=.5"));
    REQUIRE(found.size() == 9);
    CHECK(number(found[0]).real == -1500);
    CHECK(number(found[1]).whole == -7);
    CHECK(number(found[2]).whole == 7);
    CHECK(std::get<bool>(found[3].value));
    CHECK_FALSE(std::get<bool>(found[4].value));
    CHECK(influx_text(found[5]) == "x, y=\"z\" \\");
    CHECK(std::get<bool>(found[6].value));
    CHECK(influx_text(found[7]).empty());
    CHECK(number(found[8]).real == 0.5);
}

TEST_CASE("a number that cannot be represented is not good, and the other fields are read",
          "[device][metrics][influx]") {
    const auto found =
        fields(influx_line("m a=1,b=nan,c=-Inf,d=1e999,e=1e-400,f=9223372036854775808i,g=18446744073709551615u,"
                           "h=9007199254740993,i=9007199254740994"));
    REQUIRE(found.size() == 9);
    for (const std::size_t none : {1U, 2U, 3U}) {
        CHECK(number(found[none]).kind == TextNumber::Kind::none);
        CHECK(number(found[none]).real_quality() == Quality::bad);
    }
    CHECK(number(found[4]).as_real() == 0);
    CHECK(number(found[4]).real_quality() == Quality::good);
    for (const std::size_t rounded : {5U, 6U, 7U}) {
        CHECK(number(found[rounded]).real_quality() == Quality::uncertain);
    }
    CHECK(number(found[8]).as_real() == 9'007'199'254'740'994);
    CHECK(number(found[8]).real_quality() == Quality::good);
}

TEST_CASE("a time beyond 64 bits is noted, and the fields are read", "[device][metrics][influx]") {
    const InfluxLine line = influx_line("m f=1 99999999999999999999");
    CHECK(line.is_time_beyond);
    CHECK_FALSE(line.time);
}

TEST_CASE("a line end between quotes does not end an Influx line", "[device][metrics][influx]") {
    const auto [text, first] = GENERATE(table<std::string, std::string>({
        {"m a=\"x\nevil v=1\",b=2 7\nnext v=3", "m a=\"x\nevil v=1\",b=2 7"},
        {"m a=\"x\r\nevil v=1\"\r\nnext v=3", "m a=\"x\r\nevil v=1\""},
        {"m a=\"\\\"\nevil v=1\"\nnext v=3", "m a=\"\\\"\nevil v=1\""},
        {"m,t=\"q a=1\nnext v=3", "m,t=\"q a=1"},  // not a quoted text
        {"m\\ n,t=\\=\"q a=1\nnext v=3", "m\\ n,t=\\=\"q a=1"},
        {"# a=\"\nnext v=3", "# a=\""},
        {"  m a=1\nnext v=3", "  m a=1"},
    }));
    CAPTURE(text);
    std::string_view rest = text;
    CHECK(take_influx_line(rest) == first);
    CHECK(rest == "next v=3");
}

TEST_CASE("a quoted text without an end does not give its content away as lines", "[device][metrics][influx]") {
    std::string_view rest = "m a=\"x\nevil v=1";
    InfluxLine line;
    CHECK_FALSE(read_influx_line(take_influx_line(rest), line));
    CHECK(rest.empty());
}

TEST_CASE("only a quoted text can contain a line end", "[device][metrics][influx]") {
    CHECK(influx_text(fields(influx_line("m a=\"x\r\ny\"")).at(0)) == "x\r\ny");
    const auto* const text = GENERATE("m\n a=1", "m,t=x\n a=1", "m a\n=1", "m a=1\n", "m a=1\r,b=2");
    InfluxLine line;
    CAPTURE(text);
    CHECK_FALSE(read_influx_line(text, line));
}

TEST_CASE("a quoted text contains line ends and tabs as escapes", "[device][metrics][influx]") {
    CHECK(influx_text(fields(influx_line(R"(m f="a\nb\rc\td\x\\n\"")")).at(0)) == "a\nb\rc\td\\x\\n\"");
}

TEST_CASE("a backslash escapes the next character of a name", "[device][metrics][influx]") {
    const InfluxLine line = influx_line(R"(my\ cpu\,x,a\=b=c\ d\,e f\=g=1,back\slash=2)");
    CHECK(name_text(line.measurement) == "my cpu,x");
    REQUIRE(line.tag_count == 1);
    CHECK(name_text(line.tags[0].key) == "a=b");
    CHECK(name_text(line.tags[0].value) == "c d,e");
    const auto found = fields(line);
    REQUIRE(found.size() == 2);
    CHECK(name_text(found[0].key) == "f=g");
    CHECK(name_text(found[1].key) == "back\\slash");
}

TEST_CASE("an invalid Influx line is refused", "[device][metrics][influx]") {
    const auto* const text =
        GENERATE("", "m", "m ", "m f", "m f=", "m =1", " f=1", ",a=b f=1", "m,a f=1", "m,a= f=1", "m,=b f=1", "m, f=1",
                 "m,a=b,a=c f=1", "m,a=b", "m f=1,", "m f=1,,g=2", "m f=1 g=2", "m f=1 12x", "m f=1 1.5", "m f=1 1 2",
                 "m f=\"x", "m f=\"x\\\"", "m f=x\"", "m f=\"a\"b", "m f=1ii", "m f=1.5i", "m f=-1u", "m f=i",
                 "m f=0x1", "m f=tru", "m f=1e5i", "m f=nani", "m f=+1i", "m f=\"a\x01\"", "m f=\"");
    InfluxLine line;
    CAPTURE(text);
    CHECK_FALSE(read_influx_line(text, line));
}

TEST_CASE("spaces around an Influx line, its fields and time are ignored", "[device][metrics][influx]") {
    const InfluxLine line = influx_line(" \tm  f=1  12  ");
    CHECK(line.measurement == "m");
    CHECK(line.time == 12);
    CHECK(line.fields == "f=1");
}

TEST_CASE("an Influx line with too many tags is refused", "[device][metrics][influx]") {
    std::string text = "m";
    for (std::size_t tag = 0; tag <= InfluxLine::tags_max; ++tag) {
        text += ",t" + std::to_string(tag) + "=1";
    }
    InfluxLine line;
    CHECK_FALSE(read_influx_line(text + " f=1", line));
}

TEST_CASE("every prefix of an Influx line is read or refused", "[device][metrics][influx]") {
    const std::string whole = R"(cpu\ x,host=a\,b,z=1 f=1.5,t="q \" r",i=7i,b=true 1556813561098000000)";
    InfluxLine line;
    for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
        const std::string part = whole.substr(0, bytes);
        CAPTURE(part);
        if (read_influx_line(part, line)) {
            CHECK_FALSE(fields(line).empty());
        }
    }
}
