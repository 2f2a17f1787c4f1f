#include "encode/json_encoder.hpp"

#include "config/load.hpp"
#include "gateway/encode/encoder_harness.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

using JsonHarness = EncoderHarness<JsonEncoder>;

/// Returns the text of the value in a payload.
std::string value_text(const std::string& payload) {
    const std::size_t begin = payload.find("\"value\":") + 8;
    return payload.substr(begin, payload.find(",\"unit\"") - begin);
}

/// Like std::to_chars(), except for negative zero.
std::string shortest_text(double value) {
    std::string text(32, '\0');
    text.resize(
        static_cast<std::size_t>(std::to_chars(text.data(), text.data() + text.size(), value).ptr - text.data()));
    return text == "-0" ? "-0.0" : text;
}

}  // namespace

TEST_CASE("a sample is encoded as the documented object, with keys in order", "[gateway][json]") {
    JsonHarness h;
    CHECK(h.encode(h.real(12.5)) ==
          R"({"device":"boiler","channel":"temp","epoch":1795217494123,"seq":42,)"
          R"("time":"2026-11-20T23:11:34.123456789Z","value":12.5,"unit":"Cel","quality":"good"})");
}

TEST_CASE("tags of the gateway are in each sample, and without tags there is no member", "[gateway][json]") {
    JsonHarness h;
    h.encoder = JsonEncoder(h.channels, epoch_ms,
                            std::make_shared<const Labels>("", Tags{{"site", "north \"1\""}, {"line", "3"}}));
    CHECK(h.encode(h.real(12.5)) == R"({"device":"boiler","channel":"temp","epoch":1795217494123,"seq":42,)"
                                    R"("time":"2026-11-20T23:11:34.123456789Z","value":12.5,"unit":"Cel",)"
                                    R"("tags":{"site":"north \"1\"","line":"3"},"quality":"good"})");
    JsonHarness without;
    CHECK_FALSE(json::parse(without.encode(without.real(12.5))).contains("tags"));
}

TEST_CASE("a sample with an unsynchronized time says so and includes the monotonic time", "[gateway][json]") {
    JsonHarness h;
    TelemetrySample sample = h.real(12.5);
    sample.flags = sample_flag::time_unsynchronized;
    sample.time_mono_ns = 8'421'337'005'112;
    CHECK(
        h.encode(sample) ==
        R"({"device":"boiler","channel":"temp","epoch":1795217494123,"seq":42,"time":"2026-11-20T23:11:34.123456789Z",)"
        R"("value":12.5,"unit":"Cel","quality":"good","time_quality":"unsynchronized","mono_ns":8421337005112})");
}

TEST_CASE("every sample is encoded like JSON from nlohmann/json", "[gateway][json]") {
    JsonHarness h;
    RandomSamples random(3);
    for (int i = 0; i < rounds(50'000); ++i) {
        const TelemetrySample sample = random.next(h, false);
        REQUIRE(json::parse(h.encode(sample)) == document_of(sample));
    }
}

TEST_CASE("every double can be read back bit for bit", "[gateway][json]") {
    JsonHarness h;
    RandomSamples random(7);
    for (int i = 0; i < rounds(50'000); ++i) {
        const double value = random.real();
        if (!std::isfinite(value)) {
            continue;
        }
        const double back = json::parse(h.encode(h.real(value)))["value"].get<double>();
        REQUIRE(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value));
    }
}

TEST_CASE("every double has its shortest text", "[gateway][json]") {
    JsonHarness h;
    RandomSamples random(9);
    for (int i = 0; i < rounds(200'000); ++i) {
        const double value = random.real();
        if (std::isfinite(value)) {
            REQUIRE(value_text(h.encode(h.real(value))) == shortest_text(value));
        }
    }
}

TEST_CASE("each number with up to three decimals has its shortest text", "[gateway][json]") {
    JsonHarness h;
    for (int thousandths = -120'000; thousandths <= 120'000; ++thousandths) {
        const double value = thousandths / 1000.0;
        REQUIRE(value_text(h.encode(h.real(value))) == shortest_text(value));
    }
    for (int hundreds = -20'000; hundreds <= 20'000; ++hundreds) {
        REQUIRE(value_text(h.encode(h.real(hundreds * 100.0))) == shortest_text(hundreds * 100.0));
    }
}

TEST_CASE("a value that JSON cannot represent is null with quality bad", "[gateway][json]") {
    JsonHarness h;
    const double value = GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity());
    const json parsed = json::parse(h.encode(h.real(value)));
    CHECK(parsed["value"].is_null());
    CHECK(parsed["quality"] == "bad");
}

TEST_CASE("integers beyond 2^53 keep every digit", "[gateway][json]") {
    JsonHarness h;
    const std::int64_t value = GENERATE(std::int64_t{0}, INT64_MAX, INT64_MIN, std::int64_t{9'007'199'254'740'993});
    CHECK(value_text(h.encode(h.integer(value))) == std::to_string(value));
}

TEST_CASE("booleans, absent values and qualities are spelled out", "[gateway][json]") {
    JsonHarness h;
    TelemetrySample sample = h.sample();
    const Quality quality = GENERATE(Quality::good, Quality::uncertain, Quality::bad, Quality::stale);
    sample.quality = quality;
    CHECK(json::parse(h.encode(sample))["value"].is_null());
    CHECK(json::parse(h.encode(sample))["quality"] == to_string(quality));
    CHECK(json::parse(h.encode(h.boolean(true)))["value"] == true);
    CHECK(json::parse(h.encode(h.boolean(false)))["value"] == false);
}

TEST_CASE("every ASCII character can be read back", "[gateway][json]") {
    JsonHarness h;
    for (int code = 0; code < 128; ++code) {
        const char c = static_cast<char>(code);
        const std::string text{'a', c, c, 'b'};
        CHECK(json::parse(h.encode(h.text(text)))["value"].get<std::string>() == text);
    }
    const std::string longest(TelemetrySample::text_bytes_max, '\x1F');
    CHECK(json::parse(h.encode(h.text(longest)))["value"].get<std::string>() == longest);
}

TEST_CASE("any bytes as text result in a valid object", "[gateway][json]") {
    JsonHarness h;
    RandomSamples random(11);
    for (int i = 0; i < rounds(20'000); ++i) {
        const std::string text = random.text(true);
        const json expected = json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
        const json parsed = json::parse(h.encode(h.text(text)));
        REQUIRE(parsed["value"].is_string());
        // Both replace invalid UTF-8; the number of replacement characters for an invalid sequence is not standardized,
        // the rest must agree.
        if (json(text).dump(-1, ' ', false, json::error_handler_t::ignore).size() ==
            json(text).dump(-1, ' ', false, json::error_handler_t::replace).size()) {
            REQUIRE(parsed["value"] == expected);
        }
    }
}

TEST_CASE("times are exact to the nanosecond, before 1970 and across seconds", "[gateway][json]") {
    JsonHarness h;
    const auto [ns, text] = GENERATE(table<std::int64_t, std::string>({
        {0, "1970-01-01T00:00:00.000000000Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {951'782'400'000'000'001, "2000-02-29T00:00:00.000000001Z"},
        {4'102'444'799'999'999'999, "2099-12-31T23:59:59.999999999Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
        {INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
    }));
    TelemetrySample sample = h.real(1);
    (void)h.encode(sample);  // puts another second in the cache
    sample.time_utc_ns = ns;
    CHECK(json::parse(h.encode(sample))["time"] == text);
}

TEST_CASE("names and units of any length and with any bytes are encoded correctly", "[gateway][json]") {
    ChannelTable channels;
    const std::string device(64, 'd');
    const std::string name(61, 'c');
    JsonEncoder encoder(channels, epoch_ms);
    for (const std::string& unit : {std::string(), std::string("\"\x01\xC2\xB0"), std::string(200, 'u')}) {
        TelemetrySample sample{};
        sample.channel = channels.add(DeviceId{0}, device, name + std::to_string(unit.size()), unit).value();
        std::string payload(encoder.bytes_max(sample), '\0');
        payload.resize(encoder.encode(sample, payload.data()));
        const json parsed = json::parse(payload);
        CHECK(parsed["device"] == device);
        CHECK(parsed["channel"] == name + std::to_string(unit.size()));
        CHECK(parsed["unit"] == unit);
    }
}

TEST_CASE("a JSON sample has the tags of its channel, and other ones after a change", "[gateway][json]") {
    JsonHarness h;
    const auto labels = [](const std::string& tags) {
        return std::make_shared<const Labels>(parse_settings(
            "[tags]\nsite = a\n[device \"boiler\"]\ndriver = simulated\n[channel \"boiler/temp\"]\n" + tags, "t.ini"));
    };
    h.encoder = JsonEncoder(h.channels, epoch_ms, labels("tags = site=b, line=3\n"));
    CHECK(json::parse(h.encode(h.real(1)))["tags"] == json{{"site", "b"}, {"line", "3"}});
    h.encoder.set_labels(labels(""));
    CHECK(json::parse(h.encode(h.real(1)))["tags"] == json{{"site", "a"}});
    h.encoder.set_labels(nullptr);
    CHECK_FALSE(json::parse(h.encode(h.real(1))).contains("tags"));
}
