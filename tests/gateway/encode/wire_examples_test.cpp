#include "encode/notice.hpp"

#include "gateway/encode/encoder_harness.hpp"
#include "support/catch.hpp"

#include <algorithm>
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

/// Returns a payload as the page shows it: text as it is, other bytes in hexadecimal.
std::string shown(const std::string& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    if (std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte > ' ' && byte < '\x7f'; })) {
        return bytes;
    }
    std::string result;
    for (const char byte : bytes) {
        result += digits[static_cast<unsigned char>(byte) >> 4U];
        result += digits[static_cast<unsigned char>(byte) & 0xFU];
    }
    return result;
}

/// The sample of the page in one format, with these `flags` of sample_flag.
std::string example(PayloadFormat format, std::uint8_t flags) {
    ChannelTable channels;
    TelemetrySample sample{};
    sample.channel = channels.add(DeviceId{0}, "host", "cpu.user", "%").value();
    sample.time_utc_ns = 1'795'216'294'123'456'789;
    sample.seq = 42;
    sample.type = ValueType::real;
    sample.value.real = 12.5;
    sample.flags = flags;
    sample.time_mono_ns = 8'421'337'005'112;
    return shown(encoded(format, channels, sample));
}

/// The notices of the page in one format.
std::pair<std::string, std::string> notices(PayloadFormat format) {
    ChannelTable channels;
    const ChannelId channel = channels.add(DeviceId{0}, "host", "cpu.user", "%").value();
    const NoticeEncoder encoder(format, {channels, epoch_ms});
    constexpr std::int64_t time_utc_ns = 1'795'216'294'123'456'789;
    std::pair<std::string, std::string> result;
    encoder.append(GapNotice{channel, 43, 57, "queue_overflow", time_utc_ns}, result.first);
    encoder.append(BeatNotice{channel, 57, time_utc_ns}, result.second);
    return {shown(result.first), shown(result.second)};
}

}  // namespace

TEST_CASE("the samples in the documentation match the encoders", "[gateway][formats]") {
    const auto format = GENERATE(from_range(payload_format_names.values));
    for (const std::uint8_t flags : {std::uint8_t{0}, sample_flag::time_unsynchronized}) {
        const std::string payload = example(format, flags);
        CAPTURE(payload);
        CHECK(page().find(payload) != std::string::npos);
    }
}

TEST_CASE("the notices in the documentation match the encoders", "[gateway][formats][notices]") {
    const auto format = GENERATE(from_range(payload_format_names.values));
    const auto [gap, beat] = notices(format);
    CAPTURE(gap, beat);
    CHECK(page().find(gap) != std::string::npos);
    CHECK(page().find(beat) != std::string::npos);
}
