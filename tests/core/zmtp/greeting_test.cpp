#include "zmtp/greeting.hpp"
#include "core/zmtp/wire_bytes.hpp"
#include "support/catch.hpp"

using namespace telegate::zmtp;
using namespace telegate::zmtp::test;

namespace {

const Buffer zeros_8(8);
const Buffer zeros_16(16);
const Buffer filler(31);

[[nodiscard]] Buffer null_greeting(int major, int minor) {
    return wire(0xFF, zeros_8, 0x7F, major, minor, "NULL", zeros_16, 0x00, filler);
}

[[nodiscard]] Buffer with_byte(Buffer greeting, std::size_t at, int value) {
    greeting[at] = static_cast<std::byte>(value);
    return greeting;
}

/// Returns how many bytes it takes to detect the violation; 0 if there is none.
[[nodiscard]] std::size_t bytes_until_violation(Bytes greeting, std::string_view mechanism) {
    for (std::size_t seen = 0; seen <= greeting.size(); ++seen) {
        if (check_greeting(greeting.first(seen), mechanism).status == GreetingStatus::violation) {
            return seen;
        }
    }
    return 0;
}

}  // namespace

TEST_CASE("our greeting is ZMTP 3.1, to the byte", "[core][zmtp]") {
    const Greeting ours = make_greeting("NULL", false);
    CHECK(hex(ours) == hex(null_greeting(3, 1)));
    CHECK(hex(make_greeting("CURVE", true)) == hex(wire(0xFF, zeros_8, 0x7F, 3, 1, "CURVE", Buffer(15), 0x01, filler)));
}

TEST_CASE("the peer's version determines the minor number", "[core][zmtp]") {
    auto [major, minor, expected] = GENERATE(
        table<int, int, int>({{3, 0, 0}, {3, 1, 1}, {3, 2, 1}, {3, 255, 1}, {4, 0, 1}, {4, 7, 1}, {255, 255, 1}}));
    CAPTURE(major, minor);
    const GreetingResult result = check_greeting(null_greeting(major, minor), "NULL");
    CHECK(result.status == GreetingStatus::ok);
    CHECK(int{result.minor} == expected);
}

TEST_CASE("a valid greeting needs all its 64 bytes", "[core][zmtp]") {
    const Buffer greeting = null_greeting(3, 1);
    REQUIRE(greeting.size() == greeting_bytes);
    for (std::size_t seen = 0; seen < greeting_bytes; ++seen) {
        CAPTURE(seen);
        CHECK(check_greeting(Bytes(greeting).first(seen), "NULL").status == GreetingStatus::need_more);
    }
}

TEST_CASE("padding, the rest of byte 9, as-server and filler of a peer are ignored", "[core][zmtp]") {
    const Buffer good = null_greeting(3, 1);
    auto [at, value] = GENERATE(table<std::size_t, int>(
        {{1, 0xAA}, {8, 1}, {8, 6}, {9, 0x01}, {9, 0xFF}, {32, 1}, {32, 0xFF}, {33, 9}, {63, 0xFF}}));
    CAPTURE(at, value);
    CHECK(check_greeting(with_byte(good, at, value), "NULL").status == GreetingStatus::ok);
}

TEST_CASE("an invalid greeting is refused at the first byte that shows it", "[core][zmtp]") {
    const Buffer good = null_greeting(3, 1);
    auto [at, value] = GENERATE(table<std::size_t, int>({{0, 0x00},
                                                         {0, 0xFE},
                                                         {9, 0x00},
                                                         {9, 0x7E},
                                                         {10, 0},
                                                         {10, 1},
                                                         {10, 2},
                                                         {12, 'n'},
                                                         {15, 'X'},
                                                         {16, 'S'},
                                                         {31, ' '}}));
    CAPTURE(at, value);
    CHECK(bytes_until_violation(with_byte(good, at, value), "NULL") == at + 1);
}

TEST_CASE("bytes of other protocols are refused at once", "[core][zmtp]") {
    const std::string other = GENERATE("GET / HTTP/1.1\r\n", "\x16\x03\x01\x02", "\r\n");
    CAPTURE(other);
    const GreetingResult result = check_greeting(wire(other), "NULL");
    CHECK(result.status == GreetingStatus::violation);
    CHECK(result.fault == "not a ZMTP greeting");
}

TEST_CASE("each kind of invalid greeting has its own fault", "[core][zmtp]") {
    const Buffer good = null_greeting(3, 1);
    CHECK(check_greeting(with_byte(good, 9, 0x7E), "NULL").fault == "greeting without a version");
    CHECK(check_greeting(with_byte(good, 10, 1), "NULL").fault == "ZMTP version older than 3");
    CHECK(check_greeting(good, "CURVE").fault == "security mechanisms do not match");
    CHECK(check_greeting(good, "NULL").fault.empty());
}

TEST_CASE("a mechanism matches only with all its padding", "[core][zmtp]") {
    const Buffer full = wire(0xFF, zeros_8, 0x7F, 3, 1, "ABCDEFGHIJKLMNOPQRST", 0x00, filler);
    CHECK(check_greeting(full, "ABCDEFGHIJKLMNOPQRST").status == GreetingStatus::ok);
    CHECK(bytes_until_violation(full, "ABCDEFGHIJKLMNOPQRS") == 32);
    CHECK(bytes_until_violation(null_greeting(3, 1), "NUL") == 16);
    CHECK(bytes_until_violation(null_greeting(3, 1), "NULLS") == 17);
}
