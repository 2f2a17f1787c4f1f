#include "core/utf8.hpp"

#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

using namespace telegate;
using namespace std::string_view_literals;

TEST_CASE("only shortest forms up to U+10FFFF without surrogates are UTF-8", "[core][utf8]") {
    for (const std::string_view good :
         {"\0"sv, "a"sv, "\x7F"sv, "\xC2\x80"sv, "\xDF\xBF"sv, "\xE0\xA0\x80"sv, "\xED\x9F\xBF"sv, "\xEE\x80\x80"sv,
          "\xF0\x90\x80\x80"sv, "\xF4\x8F\xBF\xBF"sv}) {
        CAPTURE(good);
        CHECK(utf8_bytes(good) == good.size());
        CHECK(utf8_bytes(std::string(good) + '\x80') == good.size());
        CHECK((good.size() == 1 || utf8_bytes(good.substr(0, good.size() - 1)) == 0));
    }
    for (const std::string_view bad :
         {"\x80"sv, "\xBF"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xE0\x9F\xBF"sv, "\xED\xA0\x80"sv, "\xF0\x8F\xBF\xBF"sv,
          "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xC3("sv}) {
        CAPTURE(bad);
        CHECK(utf8_bytes(bad) == 0);
    }
}

TEST_CASE("control characters are C0, DEL and C1", "[core][utf8]") {
    for (const std::string_view control : {"\0"sv, "\x1F"sv, "\x7F"sv, "\xC2\x80"sv, "\xC2\x9F"sv}) {
        CHECK(is_control(control));
    }
    for (const std::string_view other : {" "sv, "~"sv, "\xC2\xA0"sv, "\xC3\x80"sv}) {
        CHECK_FALSE(is_control(other));
    }
}

TEST_CASE("a text is truncated between characters", "[core][utf8]") {
    constexpr std::string_view text = "a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80";  // 1, 2, 3 and 4 bytes
    constexpr std::array<std::size_t, 12> expected{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (std::size_t bytes_max = 0; bytes_max < expected.size(); ++bytes_max) {
        CAPTURE(bytes_max);
        CHECK(whole_characters_bytes(text, bytes_max) == expected.at(bytes_max));
    }
    CHECK(count_characters(text) == 4);
    CHECK(whole_characters_bytes(std::string(9, '\x80'), 5) > 0);  // not UTF-8
}

TEST_CASE("each byte that is not UTF-8 is replaced", "[core][utf8]") {
    std::array<char, 24> out;
    const char* const end = put_utf8(out.data(), "a\xE2\x82z\xC3\xBC\xFF");
    CHECK(std::string_view(out.data(), end) == "a\xEF\xBF\xBD\xEF\xBF\xBDz\xC3\xBC\xEF\xBF\xBD");
}
