#pragma once

#include "core/clock.hpp"
#include "core/ledger.hpp"

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
    std::vector<Aggregate> aggregates;
    bool window_raw = false;  // the values go out beside their aggregates

    std::optional<double> alarm_high;
    std::optional<double> alarm_low;
    double alarm_hysteresis = 0.0;
    Duration alarm_delay{0};
    Duration alarm_clear_delay{0};

    [[nodiscard]] bool has_window() const noexcept { return window > Duration(0); }
    [[nodiscard]] bool has_alarm() const noexcept { return alarm_high.has_value() || alarm_low.has_value(); }
    [[nodiscard]] bool has_stages() const noexcept;
};

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

/// Samples of one device that were held back, since the last time that it was told. Both say the same.
struct FilteredSamples {
    std::span<const FilteredCount> channels;
    FilterCounts by_reason{};
};

}  // namespace telegate
