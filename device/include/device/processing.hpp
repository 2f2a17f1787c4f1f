#pragma once

#include "core/clock.hpp"
#include "core/ledger.hpp"
#include "core/telemetry_sample.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// How a value outside its valid range is handled.
enum class OutOfRange : std::uint8_t {
    uncertain,  // sent with quality uncertain
    drop,       // suppressed
};

/// The quantity that is sent instead of the value.
enum class Derive : std::uint8_t {
    none,
    rate,          // change per second
    counter_rate,  // change per second of a counter, which may overflow at 32 bits or restart
};

/// The aggregates of a window. Each is a channel of its own, NAME.min and so on.
enum class Aggregate : std::uint8_t { min, max, mean, last, count };
inline constexpr std::size_t aggregate_kinds = 5;
[[nodiscard]] std::string_view to_string(Aggregate aggregate) noexcept;

/// The state of an alarm.
enum class AlarmState : std::uint8_t {
    unknown,  // until the values have determined it
    normal,
    high,
    low,
};
[[nodiscard]] std::string_view to_string(AlarmState state) noexcept;
/// Returns nullopt if no state has this name.
[[nodiscard]] std::optional<AlarmState> to_alarm_state(std::string_view name) noexcept;

/// Where the windows of a channel begin.
enum class WindowAlign : std::uint8_t {
    wall,       // at whole multiples of the window length on the wall clock
    monotonic,  // at whole multiples of the window length on the monotonic clock
};

/// A text that is sent instead of a number, such as "off" for 0.
struct ValueText {
    std::int64_t value = 0;
    std::string text;  // 1 to TelemetrySample::text_bytes_max bytes
};

/// How the values of one channel are processed. The members are in the order of the stages. The defaults do nothing.
struct ChannelProcessing {
    std::string unit;  // replaces the unit of the driver; "": the unit of the driver, per second if a rate is derived

    double scale = 1.0;  // value * scale + offset
    double offset = 0.0;

    std::optional<double> valid_min;
    std::optional<double> valid_max;
    OutOfRange out_of_range = OutOfRange::uncertain;

    double deadband = 0.0;          // a value is sent if it differs by more from the last sent value; 0: none
    double deadband_percent = 0.0;  // of the last sent value; the larger of the two deadbands applies; 0: none
    Duration send_interval_max{0};  // a value within the deadband is sent after this time; 0: never

    Duration send_interval_min{0};  // 0: no rate limit

    Derive derive = Derive::none;

    Duration window{0};  // 0: none
    WindowAlign window_align = WindowAlign::monotonic;
    std::vector<Aggregate> aggregates;
    bool window_raw = false;  // the values are sent in addition to their aggregates

    std::optional<double> alarm_high;
    std::optional<double> alarm_low;
    double alarm_hysteresis = 0.0;
    Duration alarm_delay{0};
    Duration alarm_clear_delay{0};
    AlarmState alarm_before = AlarmState::unknown;  // at the end of the previous run

    // 0 to decimals_max: decimals of sent values, rounded half away from zero; nullopt: not rounded
    std::optional<unsigned> decimals;
    std::vector<ValueText> texts;  // ascending unique values; a value without a text is uncertain

    [[nodiscard]] bool has_window() const noexcept { return window > Duration(0); }
    [[nodiscard]] bool has_alarm() const noexcept { return alarm_high.has_value() || alarm_low.has_value(); }
    [[nodiscard]] bool has_stages() const noexcept;
};

/// More digits than most values have in a double, and an exponent whose power of ten a double represents exactly.
inline constexpr unsigned decimals_max = 12;

/// The processing of each channel, by name (a topic part).
struct ProcessingPlan {
    std::map<std::string, ChannelProcessing, std::less<>> channels;
};

/// A longer name has no space for the longest suffix of a derived channel, such as ".alarm".
inline constexpr std::size_t processed_name_bytes_max = 58;

/// Why a sample was suppressed: the first stage that suppressed it.
enum class FilterReason : std::uint8_t { range, deadband, rate_limit, window };
inline constexpr std::size_t filter_reasons = 4;
[[nodiscard]] std::string_view to_string(FilterReason reason) noexcept;

/// Counts by FilterReason.
using FilterCounts = std::array<std::uint64_t, filter_reasons>;

/// The state of one alarm. Reported each time the alarm channel gets a sample, and when a reading begins or breaks a
/// crossing of a limit.
struct AlarmNews {
    std::string_view device;   // `device` and `channel` are valid during the call
    std::string_view channel;  // the channel whose values are watched
    AlarmState state = AlarmState::unknown;
    Quality quality = Quality::bad;    // of the state; bad: the last reading had no value
    double value = 0.0;                // the last value
    std::optional<double> limit = {};  // the limit that is crossed; nullopt: the state is normal or unknown
    std::int64_t time_utc_ns = 0;
};

/// Receives alarm states. Called on the thread that reads the device, so it must return quickly and must not throw.
using AlarmObserver = std::function<void(const AlarmNews& news)>;

/// Samples of one device that were suppressed since the last report: the same samples, by channel and by reason.
struct FilteredSamples {
    std::span<const FilteredCount> channels;
    FilterCounts by_reason{};
};

/// The processing callbacks of a device's batch.
struct ProcessingObserver {
    std::function<void(const FilteredSamples&)> on_filtered;  // called when samples are handed over
    AlarmObserver on_alarm = {};                              // may be empty
};

}  // namespace telegate
