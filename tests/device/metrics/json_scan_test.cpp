#include "metrics/json_scan.hpp"

#include "support/catch.hpp"

#include <array>
#include <string>
#include <string_view>

using namespace telegate::metrics;

namespace {

/// Returns the events as one text: structure as written, keys as k, values by their type.
std::string shape(std::string_view text) {
    JsonScan scan(text);
    std::string found;
    for (;;) {
        switch (scan.next()) {
            case JsonEvent::begin_object: found += '{'; break;
            case JsonEvent::end_object: found += '}'; break;
            case JsonEvent::begin_array: found += '['; break;
            case JsonEvent::end_array: found += ']'; break;
            case JsonEvent::key: found += "k:"; break;
            case JsonEvent::text: found += 't'; break;
            case JsonEvent::whole: found += 'w'; break;
            case JsonEvent::real: found += 'r'; break;
            case JsonEvent::flag: found += scan.flag() ? 'y' : 'n'; break;
            case JsonEvent::null: found += '0'; break;
            case JsonEvent::end: return found;
            case JsonEvent::fault: return "fault";
        }
    }
}

std::string text_of(std::string_view raw, std::size_t room_bytes = 64) {
    std::string room(room_bytes, '.');
    return std::string(put_json_text(raw, room).text);
}

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

}  // namespace

TEST_CASE("a JSON text is read event by event", "[device][metrics][json]") {
    CHECK(shape(R"({"a":1,"b":{"c":true,"d":[1.5,null,"x",false]}})") == "{k:wk:{k:yk:[r0tn]}}");
    CHECK(shape(" [ ] ") == "[]");
    CHECK(shape("{ }") == "{}");
    CHECK(shape("[{},[]]") == "[{}[]]");
    CHECK(shape("7") == "w");
    CHECK(shape("\"\"") == "t");
}

TEST_CASE("numbers keep their type and value", "[device][metrics][json]") {
    const auto [text, event, number] = GENERATE(table<std::string, JsonEvent, double>({
        {"0", JsonEvent::whole, 0},
        {"-0", JsonEvent::whole, 0},
        {"-12", JsonEvent::whole, -12},
        {"9223372036854775807", JsonEvent::whole, 9223372036854775807.0},
        {"9223372036854775808", JsonEvent::real, 9223372036854775808.0},
        {"1.0", JsonEvent::real, 1},
        {"-2.5E-3", JsonEvent::real, -0.0025},
        {"1e3", JsonEvent::real, 1000},
        {"1e-400", JsonEvent::real, 0},
        {"-0.000e-99999999999999999999", JsonEvent::real, 0},
    }));
    JsonScan scan(text);
    CHECK(scan.next() == event);
    CHECK(scan.is_rounded() == (text == "9223372036854775808"));
    CHECK((event == JsonEvent::whole ? static_cast<double>(scan.whole()) : scan.real()) == number);
    CHECK(scan.next() == JsonEvent::end);
}

TEST_CASE("a text that is not JSON is a fault, permanently", "[device][metrics][json]") {
    const auto* const text = GENERATE("", " ", "{", "[", "]", "}", "{]", "[}", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}",
                                      "{,}", "{\"a\":1,}", "{a:1}", "{1:1}", "[1 2]", "1 2", "01", "+1", ".5", "1.",
                                      "1e", "1e+", "-", "NaNs", "tru", "nul", "truefalse", "\"", "\"\\\"", "\"\\x\"",
                                      "\"\\u12g4\"", "\"\\u123", "\"a\nb\"", "'a'", "[1]]", "{\"a\":1}}", "/**/1");
    CAPTURE(text);
    CHECK(shape(text) == "fault");
    JsonScan scan(text);
    while (scan.next() != JsonEvent::fault) {
    }
    CHECK(scan.next() == JsonEvent::fault);
}

TEST_CASE("a number without a value is null, and the rest is read", "[device][metrics][json]") {
    const auto* const number =
        GENERATE("9.0e+999", "-1e999", "1e99999999999999999999", "NaN", "nan", "Infinity", "-Infinity", "-inf", "+Inf",
                 "nan(ind)", "-nan(ind)", "nan(snan)", "1.#INF", "-1.#INF00", "1.#QNAN", "-1.#IND");
    CAPTURE(number);
    CHECK(shape("[1," + std::string(number) + ",2]") == "[w0w]");
}

TEST_CASE("a byte order mark before a JSON text is ignored", "[device][metrics][json]") {
    CHECK(shape("\xEF\xBB\xBF[1]") == "[w]");
    CHECK(shape("[\xEF\xBB\xBF"
                "1]") == "fault");
}

TEST_CASE("objects and arrays can be nested up to the limit", "[device][metrics][json]") {
    CHECK(shape(nested(JsonScan::depth_max)) == nested(JsonScan::depth_max));
    CHECK(shape(nested(JsonScan::depth_max + 1)) == "fault");
    CHECK(shape(std::string(100'000, '[')) == "fault");
}

TEST_CASE("escapes are resolved", "[device][metrics][json]") {
    const auto [raw, text] = GENERATE(table<std::string, std::string>({{"plain", "plain"},
                                                                       {R"(\"\\\/)", "\"\\/"},
                                                                       {R"(\b\f\n\r\t)", "\b\f\n\r\t"},
                                                                       {R"(\u0041)", "A"},
                                                                       {R"(\u00e9\u20AC)", "\xC3\xA9\xE2\x82\xAC"},
                                                                       {R"(\ud83d\ude00)", "\xF0\x9F\x98\x80"},
                                                                       {R"(\ud83dx)", "\xEF\xBF\xBDx"},
                                                                       {R"(\ude00)", "\xEF\xBF\xBD"},
                                                                       {R"(\ud83d\u0041)",
                                                                        "\xEF\xBF\xBD"
                                                                        "A"}}));
    CHECK(text_of(raw) == text);
}

TEST_CASE("a text that does not fit is truncated after a whole character", "[device][metrics][json]") {
    CHECK(text_of("abcdef", 4) == "abcd");
    CHECK(text_of("abc\xE2\x82\xAC", 4) == "abc");
    CHECK(text_of(R"(abc\u20ac)", 5) == "abc");
    std::array<char, 3> room{};
    CHECK(put_json_text("abc", room).fits);
    CHECK_FALSE(put_json_text("abcd", room).fits);
}

TEST_CASE("every proper prefix of a JSON text is a fault", "[device][metrics][json]") {
    const std::string whole = R"({"a":[1.5e3,"x\u00e9",null],"b":{"c":true}})";
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        CHECK(shape(whole.substr(0, bytes)) == "fault");
    }
    CHECK(shape(whole) == "{k:[rt0]k:{k:y}}");
}
