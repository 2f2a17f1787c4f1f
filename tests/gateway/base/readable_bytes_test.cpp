#include "base/readable_bytes.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

using namespace telegate;

TEST_CASE("any bytes become text that shows all of them", "[gateway][json]") {
    const auto [bytes, text] = GENERATE(table<std::string, std::string>({
        {"", ""},
        {"host/cpu.", "host/cpu."},
        {"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
        {std::string("\0\x01\n\x7F", 4), "\\x00\\x01\\x0a\\x7f"},
        {"\xFF", "\\xff"},
        {"a\\x00", "a\\\\x00"},
        {"\xC3", "\\xc3"},                    // truncated
        {"\xC3(", "\\xc3("},                  // followed by another character
        {"\xC0\x80", "\\xc0\\x80"},           // overlong
        {"\xE0\x80\x80", "\\xe0\\x80\\x80"},  // overlong, with three bytes
        {"\xF0\x80\x80\x80", "\\xf0\\x80\\x80\\x80"},
        {"\xED\xA0\x80", "\\xed\\xa0\\x80"},           // half a surrogate pair
        {"\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // above U+10FFFF
        {"\xC2\x85", "\\xc2\\x85"},                    // a control character of two bytes
    }));
    CHECK(to_readable(bytes) == text);
}

TEST_CASE("readable text is always UTF-8", "[gateway][json]") {
    for (unsigned bytes = 0; bytes < 0x10000; ++bytes) {
        const std::string pair{static_cast<char>(bytes >> 8U), static_cast<char>(bytes & 0xFFU)};
        // The strict handler throws on invalid UTF-8.
        REQUIRE_NOTHROW(nlohmann::json(to_readable(pair)).dump());
    }
}
