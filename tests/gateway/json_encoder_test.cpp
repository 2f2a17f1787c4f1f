#include "json_encoder.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <string>

using namespace telegate;
using nlohmann::json;

namespace {

/// An encoder with one channel, "boiler/temp" in degrees.
struct Harness {
    ChannelTable channels;
    ChannelId channel = channels.add(DeviceId{0}, "boiler", "temp", "Cel").value();
    JsonEncoder encoder{channels, 1'795'217'494'123};

    TelemetrySample sample() const {
        TelemetrySample result{};
        result.channel = channel;
        result.seq = 42;
        result.time_utc_ns = 1'795'216'294'123'456'789;
        return result;
    }
    TelemetrySample real(double value) const {
        TelemetrySample result = sample();
        result.type = ValueType::real;
        result.value.real = value;
        return result;
    }
    TelemetrySample text(std::string_view value) const {
        TelemetrySample result = sample();
        result.type = ValueType::text;
        result.text_bytes = static_cast<std::uint8_t>(value.copy(result.value.text, sizeof result.value.text));
        return result;
    }
    std::string encode(const TelemetrySample& sample) {
        std::string out(encoder.bytes_max(sample), '\0');
        out.resize(encoder.encode(sample, out.data()));
        return out;
    }
};

}  // namespace

TEST_CASE("a sample becomes the documented object, keys in order", "[gateway][json]") {
    Harness h;
    CHECK(h.encode(h.real(12.5)) ==
          R"({"device":"boiler","channel":"temp","epoch":1795217494123,"seq":42,)"
          R"("time":"2026-11-20T23:11:34.123456789Z","value":12.5,"unit":"Cel","quality":"good"})");
}

TEST_CASE("every double comes back bit for bit", "[gateway][json]") {
    Harness h;
    std::mt19937_64 random(7);
    for (int i = 0; i < 20'000; ++i) {
        const auto value = std::bit_cast<double>(random());
        if (!std::isfinite(value)) {
            continue;
        }
        const double back = json::parse(h.encode(h.real(value)))["value"].get<double>();
        REQUIRE(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value));
    }
}

TEST_CASE("special doubles keep their value", "[gateway][json]") {
    Harness h;
    const double value =
        GENERATE(0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e21, 9007199254740993.0);
    const double back = json::parse(h.encode(h.real(value)))["value"].get<double>();
    CHECK(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value));
}

TEST_CASE("what JSON cannot hold is null with quality bad", "[gateway][json]") {
    Harness h;
    const double value = GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity());
    const json parsed = json::parse(h.encode(h.real(value)));
    CHECK(parsed["value"].is_null());
    CHECK(parsed["quality"] == "bad");
}

TEST_CASE("integers beyond 2^53 keep every digit", "[gateway][json]") {
    Harness h;
    const std::int64_t value = GENERATE(std::int64_t{0}, INT64_MAX, INT64_MIN, std::int64_t{9'007'199'254'740'993});
    TelemetrySample sample = h.sample();
    sample.type = ValueType::integer;
    sample.value.integer = value;
    CHECK(json::parse(h.encode(sample))["value"].get<std::int64_t>() == value);
}

TEST_CASE("booleans, absent values and qualities are spelled out", "[gateway][json]") {
    Harness h;
    TelemetrySample sample = h.sample();
    sample.quality = Quality::stale;
    CHECK(json::parse(h.encode(sample))["value"].is_null());
    CHECK(json::parse(h.encode(sample))["quality"] == "stale");
    sample.type = ValueType::boolean;
    sample.value.boolean = true;
    sample.quality = Quality::uncertain;
    CHECK(json::parse(h.encode(sample))["value"] == true);
    CHECK(json::parse(h.encode(sample))["quality"] == "uncertain");
}

TEST_CASE("every text comes back as nlohmann/json would write it", "[gateway][json]") {
    Harness h;
    std::string every_control;
    for (char c = 0; c < 0x20; ++c) {
        every_control.push_back(c);
    }
    const std::string text =
        GENERATE_COPY(std::string(), std::string("\"\\/\b\f\n\r\t"), every_control, std::string("a\0b", 3),
                      std::string("\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80"));
    CHECK(json::parse(h.encode(h.text(text)))["value"].get<std::string>() == text);
}

TEST_CASE("any bytes as text give a valid object", "[gateway][json]") {
    Harness h;
    std::mt19937_64 random(11);
    for (int i = 0; i < 20'000; ++i) {
        std::string text(random() % 33, '\0');
        for (char& c : text) {
            c = static_cast<char>(random());
        }
        const json expected = json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
        const json parsed = json::parse(h.encode(h.text(text)));
        REQUIRE(parsed["value"].is_string());
        // Both replace what is not UTF-8; how many marks one bad run gives is not standardised, the rest must agree.
        if (json(text).dump(-1, ' ', false, json::error_handler_t::ignore).size() ==
            json(text).dump(-1, ' ', false, json::error_handler_t::replace).size()) {
            REQUIRE(parsed["value"] == expected);
        }
    }
}

TEST_CASE("times are exact to the nanosecond, before 1970 and across seconds", "[gateway][json]") {
    Harness h;
    const auto [ns, text] = GENERATE(table<std::int64_t, std::string>({
        {0, "1970-01-01T00:00:00.000000000Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {951'782'400'000'000'001, "2000-02-29T00:00:00.000000001Z"},
        {4'102'444'799'999'999'999, "2099-12-31T23:59:59.999999999Z"},
    }));
    TelemetrySample sample = h.real(1);
    (void)h.encode(sample);  // leaves another second in the cache
    sample.time_utc_ns = ns;
    CHECK(json::parse(h.encode(sample))["time"] == text);
}
