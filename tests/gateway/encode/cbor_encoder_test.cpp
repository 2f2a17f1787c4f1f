#include "encode/cbor_encoder.hpp"

#include "config/load.hpp"
#include "encode/json_encoder.hpp"
#include "gateway/encode/encoder_harness.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"

#include <bit>
#include <limits>
#include <string>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

using CborHarness = EncoderHarness<CborEncoder>;

json decode(const std::string& payload) {
    return json::from_cbor(payload);  // throws if there is a byte too many or too few
}

}  // namespace

TEST_CASE("CBOR and JSON of any sample have the same contents", "[gateway][cbor]") {
    CborHarness cbor;
    EncoderHarness<JsonEncoder> as_json;
    RandomSamples random(13);
    for (int i = 0; i < rounds(50'000); ++i) {
        const TelemetrySample sample = random.next(cbor, true);
        REQUIRE(decode(cbor.encode(sample)) == json::parse(as_json.encode(sample)));
    }
}

TEST_CASE("every sample is encoded like CBOR from nlohmann/json", "[gateway][cbor]") {
    CborHarness h;
    RandomSamples random(17);
    for (int i = 0; i < rounds(50'000); ++i) {
        const TelemetrySample sample = random.next(h, false);
        REQUIRE(decode(h.encode(sample)) == document_of(sample));
    }
}

TEST_CASE("the keys have the order of the JSON object", "[gateway][cbor]") {
    CborHarness h;
    const auto decoded = nlohmann::ordered_json::from_cbor(h.encode(h.real(12.5)));
    std::vector<std::string> keys;
    for (const auto& item : decoded.items()) {
        keys.push_back(item.key());
    }
    CHECK(keys == std::vector<std::string>{"device", "channel", "epoch", "seq", "time", "value", "unit", "quality"});
}

TEST_CASE("a real number is a 64-bit float, bit for bit", "[gateway][cbor]") {
    CborHarness h;
    RandomSamples random(19);
    for (int i = 0; i < rounds(20'000); ++i) {
        const double value = random.real();
        if (!std::isfinite(value)) {
            continue;
        }
        const json decoded = decode(h.encode(h.real(value)))["value"];
        REQUIRE(decoded.is_number_float());
        REQUIRE(std::bit_cast<std::uint64_t>(decoded.get<double>()) == std::bit_cast<std::uint64_t>(value));
    }
}

TEST_CASE("an integer of any size is a CBOR integer", "[gateway][cbor]") {
    CborHarness h;
    RandomSamples random(23);
    for (int i = 0; i < rounds(20'000); ++i) {
        const std::int64_t value = random.integer();
        const json decoded = decode(h.encode(h.integer(value)))["value"];
        REQUIRE(decoded.is_number_integer());
        REQUIRE(decoded.get<std::int64_t>() == value);
    }
}

TEST_CASE("NaN and infinities are null with quality bad in CBOR too", "[gateway][cbor]") {
    CborHarness h;
    const double value = GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity());
    const json decoded = decode(h.encode(h.real(value)));
    CHECK(decoded["value"].is_null());
    CHECK(decoded["quality"] == "bad");
}

TEST_CASE("tags are a map in the CBOR sample, even with an unsynchronized time", "[gateway][cbor]") {
    CborHarness h;
    h.encoder =
        CborEncoder(h.channels, epoch_ms,
                    std::make_shared<const Labels>("", Tags{{"site", "north"}, {"line", std::string(128, 'x')}}));
    TelemetrySample sample = h.real(12.5);
    sample.flags = GENERATE(std::uint8_t{0}, sample_flag::time_unsynchronized);
    json expected = document_of(sample);
    expected["tags"] = {{"site", "north"}, {"line", std::string(128, 'x')}};
    CHECK(decode(h.encode(sample)) == expected);
}

TEST_CASE("names, units and texts of any length have correct heads", "[gateway][cbor]") {
    ChannelTable channels;
    CborEncoder encoder(channels, epoch_ms);
    const std::size_t bytes = GENERATE(std::size_t{1}, std::size_t{23}, std::size_t{24}, std::size_t{64});
    TelemetrySample sample{};
    sample.channel =
        channels.add(DeviceId{0}, std::string(bytes, 'd'), std::string(bytes, 'c'), std::string(4 * bytes, 'u'))
            .value();
    std::string payload(encoder.bytes_max(sample), '\0');
    payload.resize(encoder.encode(sample, payload.data()));
    CHECK(decode(payload)["device"] == std::string(bytes, 'd'));
    CHECK(decode(payload)["channel"] == std::string(bytes, 'c'));
    CHECK(decode(payload)["unit"] == std::string(4 * bytes, 'u'));
}

TEST_CASE("a CBOR sample has the tags of its channel, and other ones after a change", "[gateway][cbor]") {
    CborHarness h;
    const auto labels = [](const std::string& tags) {
        return std::make_shared<const Labels>(parse_settings(
            "[tags]\nsite = a\n[device \"boiler\"]\ndriver = simulated\n[channel \"boiler/temp\"]\n" + tags, "t.ini"));
    };
    h.encoder = CborEncoder(h.channels, epoch_ms, labels("tags = site=b, line=3\n"));
    CHECK(decode(h.encode(h.real(1)))["tags"] == json{{"site", "b"}, {"line", "3"}});
    h.encoder.set_labels(labels(""));
    CHECK(decode(h.encode(h.real(1)))["tags"] == json{{"site", "a"}});
    h.encoder.set_labels(nullptr);
    CHECK_FALSE(decode(h.encode(h.real(1))).contains("tags"));
}
