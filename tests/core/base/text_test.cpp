#include "core/text.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <string>

using namespace telegate;

TEST_CASE("texts are compared without the case of ASCII letters", "[core][text]") {
    CHECK(equal_ignoring_case("Socket-Type", "sOCKET-tYPE"));
    CHECK_FALSE(equal_ignoring_case("a", "ab"));
    CHECK_FALSE(equal_ignoring_case("[", "{"));
}

TEST_CASE("only the given blanks are trimmed, and a text of blanks becomes empty", "[core][text]") {
    CHECK(trimmed(" \ta b\t ") == "a b");
    CHECK(trimmed(" a\n") == "a\n");
    CHECK(trimmed(" a\n", " \n") == "a");
    CHECK(trimmed(" \t").empty());
    CHECK(trimmed("").empty());
}

TEST_CASE("a number is parsed from the whole text or not at all", "[core][text]") {
    CHECK(parse_number<int>("-12") == -12);
    CHECK(parse_number<double>("1.5") == 1.5);
    CHECK(parse_number<unsigned>("fF", 16) == 255U);
    for (const char* const text : {"", " 1", "1 ", "+1", "256", "-1"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_number<std::uint8_t>(text));
    }
}

TEST_CASE("bytes are escaped as two hexadecimal digits each", "[core][text]") {
    std::string text = "a";
    append_escaped(text, "\x1b\xff");
    CHECK(text == "a\\x1b\\xff");
}
