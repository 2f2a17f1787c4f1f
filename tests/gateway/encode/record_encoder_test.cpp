#include "encode/record_encoder.hpp"

#include "gateway/encode/encoder_harness.hpp"
#include "support/catch.hpp"

#include <cstring>
#include <limits>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

using RecordHarness = EncoderHarness<RecordEncoder>;

/// Reads a little-endian number like a client.
template <class Number>
Number number_at(const std::string& record, std::size_t offset) {
    std::uint64_t bits = 0;
    for (std::size_t i = sizeof(Number); i > 0; --i) {
        bits = bits << 8U | static_cast<unsigned char>(record.at(offset + i - 1));
    }
    return static_cast<Number>(bits);
}

double real_at(const std::string& record, std::size_t offset) {
    return std::bit_cast<double>(number_at<std::uint64_t>(record, offset));
}

}  // namespace

TEST_CASE("each field of a record is at its documented offset", "[gateway][record]") {
    RecordHarness h;
    TelemetrySample sample = h.real(12.5);
    sample.quality = Quality::uncertain;
    sample.flags = 5;
    sample.time_mono_ns = 77;
    const std::string record = h.encode(sample);
    REQUIRE(record.size() == 64);
    CHECK(number_at<std::int64_t>(record, 0) == 1'795'216'294'123'456'789);
    CHECK(number_at<std::int64_t>(record, 8) == epoch_ms);
    CHECK(number_at<std::uint64_t>(record, 16) == 42);
    CHECK(number_at<std::uint8_t>(record, 24) == 1);
    CHECK(number_at<std::uint8_t>(record, 25) == 1);
    CHECK(number_at<std::uint8_t>(record, 26) == 5);
    CHECK(number_at<std::uint8_t>(record, 27) == 0);
    CHECK(number_at<std::uint32_t>(record, 28) == 0);
    CHECK(real_at(record, 32) == 12.5);
    CHECK(record.substr(40) == std::string(24, '\0'));
}

TEST_CASE("a record contains every value bit for bit and nothing else", "[gateway][record]") {
    RecordHarness h;
    RandomSamples random(29);
    for (int i = 0; i < 20'000; ++i) {
        TelemetrySample sample = random.next(h, true);
        const std::string record = h.encode(sample);
        REQUIRE(record.size() == 64);
        std::string value(32, '\0');
        const bool is_null = sample.type == ValueType::real && !std::isfinite(sample.value.real);
        if (sample.type == ValueType::text) {
            sample.text().copy(value.data(), value.size());
        } else if (sample.type == ValueType::boolean) {
            value[0] = sample.value.boolean ? '\1' : '\0';
        } else if (sample.type != ValueType::none && !is_null) {
            std::memcpy(value.data(), &sample.value, sizeof(double));
        }
        REQUIRE(record.substr(32) == value);
        REQUIRE(number_at<std::int64_t>(record, 0) == sample.time_utc_ns);
        REQUIRE(number_at<std::uint64_t>(record, 16) == sample.seq);
        REQUIRE(number_at<std::uint8_t>(record, 24) == (is_null ? 0U : static_cast<unsigned>(sample.type)));
        REQUIRE(number_at<std::uint8_t>(record, 25) == (is_null ? 2U : static_cast<unsigned>(sample.quality)));
        REQUIRE(number_at<std::uint8_t>(record, 27) == (sample.type == ValueType::text ? sample.text_bytes : 0U));
    }
}

TEST_CASE("unused bytes of a value are not encoded", "[gateway][record]") {
    RecordHarness h;
    TelemetrySample sample = h.sample();
    std::memset(&sample.value, 0x5A, sizeof sample.value);
    sample.type = GENERATE(ValueType::none, ValueType::boolean, ValueType::integer, ValueType::text);
    sample.text_bytes = 3;
    if (sample.type == ValueType::boolean) {
        sample.value.boolean = true;
    }
    const std::string record = h.encode(sample);
    CHECK(record.substr(40) == std::string(24, '\0'));
}

TEST_CASE("NaN and infinities are a record without a value, with quality bad", "[gateway][record]") {
    RecordHarness h;
    const double value = GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity());
    const std::string record = h.encode(h.real(value));
    CHECK(number_at<std::uint8_t>(record, 24) == 0);
    CHECK(number_at<std::uint8_t>(record, 25) == 2);
    CHECK(record.substr(32) == std::string(32, '\0'));
}
