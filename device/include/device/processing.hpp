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

/// What becomes of a value outside its valid range.
enum class OutOfRange : std::uint8_t {
    uncertain,  // it goes on with quality uncertain
    drop,       // it is held back
};

/// What goes on in place of a value.
enum class Derive : std::uint8_t {
    none,
    rate,          // its change per second
    counter_rate,  // the same of a counter, which may run over at 32 bits or begin anew
};

/// What is told of a window: each is a channel of its own, NAME.min and so on.
enum class Aggregate : std::uint8_t { min, max, mean, last, count };
inline constexpr std::size_t aggregate_kinds = 5;
[[nodiscard]] std::string_view to_string(Aggregate aggregate) noexcept;

/// What the alarm of a channel says.
enum class AlarmState : std::uint8_t {
    unknown,  // until the values have shown it
    normal,
    high,
    low,
};
[[nodiscard]] std::string_view to_string(AlarmState state) noexcept;
/// nullopt: no state has this name.
[[nodiscard]] std::optional<AlarmState> to_alarm_state(std::string_view name) noexcept;

/// Where the windows of a channel begin.
enum class WindowAlign : std::uint8_t {
    wall,       // at whole multiples of their length on the wall clock
    monotonic,  // the same on the monotonic clock
};

/// What is sent in place of a number: the name of a state, such as "off" for 0.
struct ValueText {
    std::int64_t value = 0;
    std::string text;  // 1 to TelemetrySample::text_bytes_max bytes
};

/// How the values of one channel are processed: the stages in the order in which they come. The defaults do nothing.
struct ChannelProcessing {
    std::string unit;  // in place of the driver's; "": the driver's, per second where a rate is derived

    double scale = 1.0;  // value * scale + offset
    double offset = 0.0;

    std::optional<double> valid_min;
    std::optional<double> valid_max;
    OutOfRange out_of_range = OutOfRange::uncertain;

    double deadband = 0.0;          // a value goes out when it differs by more from the last one that did; 0: none
    double deadband_percent = 0.0;  // of the last one that did; of the two the larger holds; 0: none
    Duration silence_max{0};        // then it goes out all the same; 0: never

    Duration send_interval_min{0};  // 0: no rate limit

    Derive derive = Derive::none;

    Duration window{0};  // 0: none
    WindowAlign window_align = WindowAlign::monotonic;
    std::vector<Aggregate> aggregates;
    bool window_raw = false;  // the values go out beside their aggregates

    std::optional<double> alarm_high;
    std::optional<double> alarm_low;
    double alarm_hysteresis = 0.0;
    Duration alarm_delay{0};
    Duration alarm_clear_delay{0};
    AlarmState alarm_before = AlarmState::unknown;  // at the end of the run before this one

    std::optional<unsigned> decimals;  // 0 to decimals_max: what is sent is rounded to so many, half away from zero
    std::vector<ValueText> texts;      // ascending values, each once; a value without one is uncertain

    [[nodiscard]] bool has_window() const noexcept { return window > Duration(0); }
    [[nodiscard]] bool has_alarm() const noexcept { return alarm_high.has_value() || alarm_low.has_value(); }
    [[nodiscard]] bool has_stages() const noexcept;
};

/// More than a double has in most values, and a power of ten that it holds exactly.
inline constexpr unsigned decimals_max = 12;

/// By the name of the channel, a topic part.
struct ProcessingPlan {
    std::map<std::string, ChannelProcessing, std::less<>> channels;
};

/// Longer names leave no room for the longest ending of a channel that is made, such as ".alarm".
inline constexpr std::size_t processed_name_bytes_max = 58;

/// Why a sample was held back: the first stage that did.
enum class FilterReason : std::uint8_t { range, deadband, rate_limit, window };
inline constexpr std::size_t filter_reasons = 4;
[[nodiscard]] std::string_view to_string(FilterReason reason) noexcept;

/// By reason.
using FilterCounts = std::array<std::uint64_t, filter_reasons>;

/// Reports the state of one alarm: each time that its channel gets a sample, or that a reading begins or breaks a
/// crossing of a limit.
struct AlarmNews {
    std::string_view device;   // this and `channel` are valid during the call
    std::string_view channel;  // whose values are watched
    AlarmState state = AlarmState::unknown;
    Quality quality = Quality::bad;    // of the state; bad: the last reading had no value
    double value = 0.0;                // the last one
    std::optional<double> limit = {};  // that is crossed; none: the state is normal or unknown
    std::int64_t time_utc_ns = 0;
};

/// Receives the states of alarms. Called on the thread that reads the device, so it must be quick and must not throw.
using AlarmObserver = std::function<void(const AlarmNews& news)>;

/// Samples of one device that were held back, since the last time that it was told. Both say the same.
struct FilteredSamples {
    std::span<const FilteredCount> channels;
    FilterCounts by_reason{};
};

/// The callbacks of a device's batch about its processing.
struct ProcessingObserver {
    std::function<void(const FilteredSamples&)> on_filtered;  // as samples are handed on
    AlarmObserver on_alarm = {};                              // may be empty
};

}  // namespace telegate
