#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace telegate {

/// Index into ChannelTable, constant for the life of the process.
enum class ChannelId : std::uint32_t {};
/// Index into Ledger: one for each device name since the start. Devices that exist at the start come first, in the
/// order of the settings file.
enum class DeviceId : std::uint32_t {};

constexpr std::uint32_t to_index(ChannelId id) noexcept {
    return static_cast<std::uint32_t>(id);
}
constexpr std::uint32_t to_index(DeviceId id) noexcept {
    return static_cast<std::uint32_t>(id);
}

/// How far a value can be trusted. A failed reading is `bad` and has no value; it never repeats an older value.
enum class Quality : std::uint8_t { good, uncertain, bad, stale };

/// Which member of TelemetrySample::Value is set. `none` is published as null.
enum class ValueType : std::uint8_t { none, real, integer, boolean, text };

[[nodiscard]] std::string_view to_string(Quality quality) noexcept;

/// One reading of one channel: a cache line that is copied as bytes.
///
/// Times are in nanoseconds: `time_utc_ns` since 1970 UTC at capture, `time_mono_ns` on the monotonic clock for
/// latencies. `seq` counts per channel from 1 at capture, so that a loss anywhere after that is visible as a gap.
struct TelemetrySample {
    static constexpr std::size_t text_bytes_max = 32;

    union Value {
        double real;
        std::int64_t integer;
        bool boolean;
        char text[text_bytes_max];
    };

    std::int64_t time_utc_ns;
    std::int64_t time_mono_ns;
    std::uint64_t seq;
    ChannelId channel;
    ValueType type;
    Quality quality;
    std::uint8_t flags;  // bits of sample_flag
    std::uint8_t text_bytes;
    Value value;

    [[nodiscard]] std::string_view text() const noexcept { return {value.text, text_bytes}; }
};

/// Bits of TelemetrySample::flags.
namespace sample_flag {
inline constexpr std::uint8_t text_truncated = 1;       // the text was longer than text_bytes_max
inline constexpr std::uint8_t time_unsynchronized = 2;  // the wall clock was not synchronized at capture
}  // namespace sample_flag

static_assert(std::is_trivially_copyable_v<TelemetrySample>);
static_assert(sizeof(TelemetrySample) == 64, "a sample is one cache line");

}  // namespace telegate
