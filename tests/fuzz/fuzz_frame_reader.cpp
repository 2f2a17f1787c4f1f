// Needs: telegate_device

#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "serial/frame_reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace {

using namespace telegate;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

FrameFormat format_of(std::uint8_t kind) {
    constexpr std::array checksums{FrameChecksum::none, FrameChecksum::sum8, FrameChecksum::xor8, FrameChecksum::crc16};
    FrameFormat format;
    format.start = (kind & 4U) != 0 ? "aab" : "a";
    format.frame_bytes = (kind & 8U) != 0 ? 16 : 6;
    format.checksum = checksums[kind % checksums.size()];
    format.channels.push_back({"first", "", 0, {FrameNumber::Kind::unsigned_integer, 1}});
    format.channels.push_back({"next", "", 1, {FrameNumber::Kind::signed_integer, 2, true}});
    if ((kind & 8U) != 0) {
        format.channels.push_back({"real", "", 4, {FrameNumber::Kind::real, 8}});
    }
    return format;
}

std::string told_of(const FrameFormat& format, std::string_view bytes, std::size_t part_bytes) {
    const SystemClock clock;
    ChannelTable channels;
    std::string told;
    SampleBatch batch(clock, channels, {DeviceId{0}, "device"}, [&](std::span<const TelemetrySample> samples) {
        for (const TelemetrySample& sample : samples) {
            std::int64_t bits = 0;
            std::memcpy(&bits, &sample.value, sizeof(bits));
            told += std::to_string(static_cast<std::uint32_t>(sample.channel)) + '=' + std::to_string(bits) + ' ';
        }
    });
    FrameReader reader(format);
    reader.open(batch);
    batch.begin(0, 0);
    for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
        const std::string part(bytes.substr(at, part_bytes));
        reader.feed(part, batch);
    }
    batch.flush();
    require(reader.good() * format.frame_bytes <= bytes.size());
    require((reader.refused() > 0) == !reader.why_refused().empty());
    return told + std::to_string(reader.refused());
}

}  // namespace

/// However the bytes are split, the frames are the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const void* const rest = data + 2;
    const std::string_view bytes(static_cast<const char*>(rest), size - 2);
    const FrameFormat format = format_of(data[0]);
    const std::string whole = told_of(format, bytes, bytes.size() + 1);
    require(told_of(format, bytes, 1) == whole);
    require(told_of(format, bytes, data[1] + std::size_t{1}) == whole);
    return 0;
}
