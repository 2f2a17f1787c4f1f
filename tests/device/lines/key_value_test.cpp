#include "line_bench.hpp"

namespace telegate {
namespace {

using test::LineBench;

TEST_CASE("fields are separated by blanks, commas and semicolons", "[device][lines]") {
    LineBench parse({.kind = LineFormat::Kind::key_value});
    CHECK(parse("temp=21.5 hum=40 state=on") == "temp=21.5 hum=40 state=true");
    CHECK(parse("\ttemp=21.5,hum=40;; state=on ,") == "temp=21.5 hum=40 state=true");
    CHECK(parse("a.b-C_d=1") == "a.b-C_d=1");
    CHECK(parse("\xC3\xBC=1") == "\xC3\xBC=1");
}

TEST_CASE("a complete field is a number, a boolean or text", "[device][lines]") {
    auto [text, value] = GENERATE(table<std::string, std::string>({
        {"1", "1"},
        {"-7", "-7"},
        {"+7", "7"},
        {"007", "7"},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "9.22337204e+18~"},
        {"1.5", "1.5"},
        {"+1.5e3", "1500."},
        {".5", "0.5"},
        {"-0", "0"},
        {"1,", "1"},
        {"", "-"},
        {"nan", "-"},
        {"-NaN", "-"},
        {"inf", "-"},
        {"-infinity", "-"},
        {"1e999", "-"},
        {"1e-400", "0."},
        {"Nan", "-"},
        {"+Infinity", "-"},
        {"+-7", "\"+-7\""},
        {"+", "\"+\""},
        {"-", "\"-\""},
        {"0x1F", "\"0x1F\""},
        {"21.5C", "\"21.5C\""},
        {"1.2.3", "\"1.2.3\""},
        {"true", "true"},
        {"OFF", "false"},
        {"Yes", "true"},
        {"no", "false"},
        {"nope", "\"nope\""},
        {"a=b", "\"a=b\""},
        {"don't", "\"don't\""},
    }));
    LineBench parse({.kind = LineFormat::Kind::key_value});
    CAPTURE(text);
    CHECK(parse("x=" + text) == "x=" + value);
}

TEST_CASE("quoted texts are texts, whatever they contain", "[device][lines]") {
    LineBench parse({.kind = LineFormat::Kind::key_value});
    CHECK(parse(R"(a="1" b="two words, one; = " c="")") == R"(a="1" b="two words, one; = " c="")");
    CHECK(parse(R"(a="say \"hi\" \\ \n",b=1)") == R"(a="say "hi" \ n" b=1)");
    CHECK(parse.refuses(R"(a="open)"));
    CHECK(parse.refuses(R"(a="open\")"));
    CHECK(parse.refuses(R"(a="open\)"));
    CHECK(parse.refuses(R"(a="b"c)"));
}

TEST_CASE("a word without a value makes the line invalid", "[device][lines]") {
    LineBench parse({.kind = LineFormat::Kind::key_value});
    CHECK(parse("temp=21,5") == "refused: no NAME=VALUE at \"5\"");
    CHECK(parse("ready") == "refused: no NAME=VALUE at \"ready\"");
    CHECK(parse("=5") == "refused: no NAME=VALUE at \"=5\"");
    CHECK(parse("a =5") == "refused: no NAME=VALUE at \"a =5\"");
    CHECK(parse("a\"b=5") == "refused: no NAME=VALUE at \"a\"b=5\"");
    CHECK(parse(std::string(50, 'x')) == "refused: no NAME=VALUE at \"" + std::string(40, 'x') + "\"");
}

TEST_CASE("blank lines and comments are ignored", "[device][lines]") {
    LineBench parse({.kind = LineFormat::Kind::key_value});
    CHECK(parse("") == "ignored");
    CHECK(parse(" \t ") == "ignored");
    CHECK(parse(" # temp=1") == "ignored");
}

TEST_CASE("a line that is not text is refused in every format", "[device][lines]") {
    auto line = GENERATE(as<std::string>{}, "a=\xFF", "a=\x80", "a=\xC3", "a=\xC0\x80", "a=\xE0\x80\x80",
                         "a=\xED\xA0\x80", "a=\xF0\x80\x80\x80", "a=\xF4\x90\x80\x80", "a=\xF5\x80\x80\x80",
                         "a=\xE2\x82", std::string("a=1\0", 4));
    LineBench key_value({.kind = LineFormat::Kind::key_value});
    LineBench csv({.kind = LineFormat::Kind::csv, .columns = {"a"}});
    LineBench regex({.kind = LineFormat::Kind::regex, .pattern = "a=(?P<a>.*)"});
    LineBench nmea({.kind = LineFormat::Kind::nmea});
    for (LineBench* parse : {&key_value, &csv, &regex, &nmea}) {
        CHECK((*parse)(line) == "refused: not UTF-8, or contains a NUL byte");
    }
    CHECK(key_value("a=\xF0\x9F\x8C\xA1\xE2\x82\xAC\xC3\xBC") == "a=\"\xF0\x9F\x8C\xA1\xE2\x82\xAC\xC3\xBC\"");
}

TEST_CASE("a line with too many fields is refused", "[device][lines]") {
    std::string line;
    for (std::size_t i = 0; i < LineFields::fields_max; ++i) {
        line += "f" + std::to_string(i) + "=1 ";
    }
    LineBench parse({.kind = LineFormat::Kind::key_value});
    CHECK_FALSE(parse.refuses(line));
    CHECK(parse(line + "one=1") == "refused: more than 256 fields, at \"one\"");
}

}  // namespace
}  // namespace telegate
