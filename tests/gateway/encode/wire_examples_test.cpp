#include "encode/cbor_encoder.hpp"
#include "encode/json_encoder.hpp"
#include "encode/notice_encoder.hpp"
#include "encode/record_encoder.hpp"

#include "gateway/encode/encoder_harness.hpp"
#include "support/catch.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

using namespace telegate;
using namespace telegate::test;

namespace {

/// The page without spaces and line ends.
std::string page() {
    std::stringstream text;
    text << std::ifstream(TELEGATE_SOURCE_DIR "/docs/wire.md").rdbuf();
    std::string result;
    for (const char c : text.str()) {
        if (c != ' ' && c != '\n') {
            result += c;
        }
    }
    return result;
}

std::string hex(const std::string& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string result;
    for (const char byte : bytes) {
        result += digits[static_cast<unsigned char>(byte) >> 4U];
        result += digits[static_cast<unsigned char>(byte) & 0xFU];
    }
    return result;
}

/// The sample of the page in one format, with these `flags` of sample_flag.
template <class Encoder>
std::string example(std::uint8_t flags = 0) {
    ChannelTable channels;
    TelemetrySample sample{};
    sample.channel = channels.add(DeviceId{0}, "host", "cpu.user", "%").value();
    sample.time_utc_ns = 1'795'216'294'123'456'789;
    sample.seq = 42;
    sample.type = ValueType::real;
    sample.value.real = 12.5;
    sample.flags = flags;
    sample.time_mono_ns = 8'421'337'005'112;
    Encoder encoder(channels, 1'795'217'494'123);
    std::string payload(encoder.bytes_max(sample), '\0');
    payload.resize(encoder.encode(sample, payload.data()));
    return payload;
}

/// The notices of the page in one format.
std::pair<std::string, std::string> notices(PayloadFormat format) {
    ChannelTable channels;
    const ChannelId channel = channels.add(DeviceId{0}, "host", "cpu.user", "%").value();
    const NoticeEncoder encoder(format, {channels, 1'795'217'494'123});
    constexpr std::int64_t time_utc_ns = 1'795'216'294'123'456'789;
    std::pair<std::string, std::string> result;
    encoder.append(GapNotice{channel, 43, 57, "queue_overflow", time_utc_ns}, result.first);
    encoder.append(BeatNotice{channel, 57, time_utc_ns}, result.second);
    return result;
}

}  // namespace

TEST_CASE("the samples in the documentation match the encoders", "[gateway][formats]") {
    CHECK(page().find(example<JsonEncoder>()) != std::string::npos);
    CAPTURE(hex(example<CborEncoder>()), hex(example<RecordEncoder>()));
    CHECK(page().find(hex(example<CborEncoder>())) != std::string::npos);
    CHECK(page().find(hex(example<RecordEncoder>())) != std::string::npos);
}

TEST_CASE("the samples with an unsynchronized time in the documentation match the encoders", "[gateway][formats]") {
    constexpr std::uint8_t flags = sample_flag::time_unsynchronized;
    CHECK(page().find(example<JsonEncoder>(flags)) != std::string::npos);
    CAPTURE(hex(example<CborEncoder>(flags)), hex(example<RecordEncoder>(flags)));
    CHECK(page().find(hex(example<CborEncoder>(flags))) != std::string::npos);
    CHECK(page().find(hex(example<RecordEncoder>(flags))) != std::string::npos);
}

TEST_CASE("the notices in the documentation match the encoders", "[gateway][formats][notices]") {
    const auto [gap, beat] = notices(PayloadFormat::json);
    CHECK(page().find(gap) != std::string::npos);
    CHECK(page().find(beat) != std::string::npos);
    for (const PayloadFormat format : {PayloadFormat::cbor, PayloadFormat::record}) {
        const auto [gap_bytes, beat_bytes] = notices(format);
        CAPTURE(hex(gap_bytes), hex(beat_bytes));
        CHECK(page().find(hex(gap_bytes)) != std::string::npos);
        CHECK(page().find(hex(beat_bytes)) != std::string::npos);
    }
}
