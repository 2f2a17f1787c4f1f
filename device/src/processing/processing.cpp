#include "device/processing.hpp"

namespace telegate {

std::string_view to_string(Aggregate aggregate) noexcept {
    switch (aggregate) {
        case Aggregate::min: return "min";
        case Aggregate::max: return "max";
        case Aggregate::mean: return "mean";
        case Aggregate::last: return "last";
        case Aggregate::count: return "count";
    }
    return "";
}

std::string_view to_string(AlarmState state) noexcept {
    switch (state) {
        case AlarmState::unknown: return "unknown";
        case AlarmState::normal: return "normal";
        case AlarmState::high: return "high";
        case AlarmState::low: return "low";
    }
    return "";
}

std::optional<AlarmState> to_alarm_state(std::string_view name) noexcept {
    for (const AlarmState each : {AlarmState::unknown, AlarmState::normal, AlarmState::high, AlarmState::low}) {
        if (to_string(each) == name) {
            return each;
        }
    }
    return std::nullopt;
}

std::string_view to_string(FilterReason reason) noexcept {
    switch (reason) {
        case FilterReason::range: return "range";
        case FilterReason::deadband: return "deadband";
        case FilterReason::rate_limit: return "rate_limit";
        case FilterReason::window: return "window";
    }
    return "";
}

bool ChannelProcessing::has_stages() const noexcept {
    const bool changes = scale != 1.0 || offset != 0.0 || derive != Derive::none;
    const bool holds_back =
        valid_min || valid_max || deadband > 0.0 || deadband_percent > 0.0 || send_interval_min > Duration(0);
    return changes || holds_back || has_window() || has_alarm() || decimals || !texts.empty();
}

}  // namespace telegate
