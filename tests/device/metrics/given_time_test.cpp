#include "metrics/given_time.hpp"

#include "device/nanoseconds.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <limits>
#include <string>

using namespace telegate;
using namespace telegate::metrics;
using test::second_ns;

namespace {

constexpr std::int64_t day_ns = 86'400 * second_ns;
constexpr std::int64_t now_ns = 1'700'000'000 * second_ns;

}  // namespace

TEST_CASE("the unit of a numeric time is detected from its magnitude", "[device][metrics][time]") {
    for (const std::int64_t count : {std::int64_t{1'700'000'000}, std::int64_t{1'700'000'000'000},
                                     std::int64_t{1'700'000'000'000'000}, std::int64_t{1'700'000'000'000'000'000}}) {
        CHECK(to_utc_ns(count, TimePrecision::by_size) == now_ns);
        CHECK(to_utc_ns(static_cast<double>(count), TimePrecision::by_size) == now_ns);
    }
    CHECK(to_utc_ns(1'700'000'000.5, TimePrecision::by_size) == now_ns + second_ns / 2);
    CHECK(to_utc_ns(1'700'000'000'000.5, TimePrecision::by_size) == now_ns + 500'000);
}

TEST_CASE("a given unit applies", "[device][metrics][time]") {
    CHECK(to_utc_ns(std::int64_t{5}, TimePrecision::ns) == 5);
    CHECK(to_utc_ns(std::int64_t{5}, TimePrecision::us) == 5'000);
    CHECK(to_utc_ns(std::int64_t{5}, TimePrecision::ms) == 5'000'000);
    CHECK(to_utc_ns(std::int64_t{-5}, TimePrecision::s) == -5 * second_ns);
    CHECK(to_utc_ns(-0.5, TimePrecision::s) == -second_ns / 2);
}

TEST_CASE("a time beyond 64 bits has no value", "[device][metrics][time]") {
    CHECK_FALSE(to_utc_ns(std::numeric_limits<std::int64_t>::max(), TimePrecision::us));
    CHECK_FALSE(to_utc_ns(std::numeric_limits<std::int64_t>::min(), TimePrecision::s));
    CHECK_FALSE(to_utc_ns(1e300, TimePrecision::by_size));
    CHECK_FALSE(to_utc_ns(9.3e18, TimePrecision::ns));
}

TEST_CASE("a time before 2000 or more than a day ahead is implausible", "[device][metrics][time]") {
    CHECK(is_likely_time(now_ns, now_ns));
    CHECK(is_likely_time(now_ns + day_ns, now_ns));
    CHECK_FALSE(is_likely_time(now_ns + day_ns + 1, now_ns));
    CHECK(is_likely_time(946'684'800 * second_ns, now_ns));
    CHECK_FALSE(is_likely_time(946'684'800 * second_ns - 1, now_ns));
    CHECK_FALSE(is_likely_time(std::numeric_limits<std::int64_t>::min(), now_ns));
    CHECK_FALSE(is_likely_time(std::numeric_limits<std::int64_t>::max(), now_ns));
}

TEST_CASE("an ISO 8601 time is parsed", "[device][metrics][time]") {
    const auto [text, ns] = GENERATE(table<std::string, std::int64_t>({
        {"2023-11-14T22:13:20Z", now_ns},
        {"2023-11-14 22:13:20z", now_ns},
        {"2023-11-15T00:13:20+02:00", now_ns},
        {"2023-11-14T17:43:20-0430", now_ns},
        {"2023-11-14T22:13:20.5Z", now_ns + second_ns / 2},
        {"2023-11-14T22:13:20.123456789987Z", now_ns + 123'456'789},
        {"2024-02-29T00:00:00Z", 1'709'164'800 * second_ns},
        {"1970-01-01T00:00:00Z", 0},
        {"2016-12-31T23:59:60Z", 1'483'228'800 * second_ns},
        {"2023-11-14 22:13:20.5+00", now_ns + second_ns / 2},
        {"2023-11-15T00:13:20+02", now_ns},
        {"2023-11-14 22:13:20 +0000", now_ns},
        {"2023-11-14T22:13:20,5Z", now_ns + second_ns / 2},
        {"2023-11-14T22:13:20.123456+00:00", now_ns + 123'456'000},
        {"2023-11-14T17:43:20\xE2\x88\x92"
         "04:30",
         now_ns},
        {"2023-11-14T22:32:52+00:19:32", now_ns},
        {"20231114T221320Z", now_ns},
        {"20231114T221320.5+0000", now_ns + second_ns / 2},
        {"20231114T2213Z", now_ns - 20 * second_ns},
        {"2023-11-14T22:13Z", now_ns - 20 * second_ns},
        {"2023-11-14T24:00:00Z", 1'700'006'400 * second_ns},
        {"2023-11-14T24:00Z", 1'700'006'400 * second_ns},
    }));
    CAPTURE(text);
    CHECK(parse_iso_time(text) == ns);
}

TEST_CASE("a text that is not an ISO 8601 time is refused", "[device][metrics][time]") {
    const auto* const text = GENERATE(
        "", "2023", "2023-11-14", "2023-11-14T22:13:20", "2023-11-14T22:13:20.Z", "2023-11-14T22:13:20,",
        "2023-1114T22:13:20Z", "2023-11-14T24:00:01Z", "2023-11-14T24:00:00.5Z", "2023-11-14T2:13:20Z", "2023-11-14TZ",
        "2023-13-14T22:13:20Z", "2023-02-29T22:13:20Z", "2023-00-14T22:13:20Z", "2023-11-14T24:13:20Z",
        "2023-11-14T22:60:20Z", "2023-11-14T22:13:61Z", "2023-11-14T22:13:20+24:00", "2023-11-14T22:13:20+2",
        "2023-11-14T22:13:20Zx", "20231114T221320", "9999-12-31T23:59:59Z", "-023-11-14T22:13:20Z");
    CAPTURE(text);
    CHECK_FALSE(parse_iso_time(text));
}
