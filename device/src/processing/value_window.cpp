#include "processing/value_window.hpp"

#include <algorithm>

namespace telegate::processing {

std::int64_t ValueWindow::start_of(std::int64_t time_ns) const noexcept {
    const std::int64_t past = time_ns % length_ns_;
    return time_ns - past - (past < 0 ? length_ns_ : 0);
}

bool ValueWindow::close_at(std::int64_t time_ns) noexcept {
    const bool went_back = time_ns < start_ns_ - length_ns_;
    const bool closes = is_open_ && (went_back || time_ns >= start_ns_ + length_ns_);
    if (closes) {
        const bool all_good = open_.values == readings_ && !any_uncertain_;
        open_.quality = open_.values == 0 ? Quality::bad : all_good ? Quality::good : Quality::uncertain;
        open_.mean = sum_ / static_cast<double>(std::max<std::uint64_t>(open_.values, 1));
        open_.end_ns = start_ns_ + length_ns_;
        closed_ = open_;
        start_ns_ = open_.end_ns;
        is_open_ = false;
    }
    if (went_back) {
        start_ns_ = start_of(time_ns);
    }
    return closes;
}

void ValueWindow::add(const Reading& reading) noexcept {
    if (!is_open_) {
        start_ns_ = std::max(start_ns_, start_of(reading.time_ns));
        is_open_ = true;
        any_uncertain_ = false;
        readings_ = 0;
        sum_ = 0.0;
        open_ = {};
    }
    ++readings_;
    if (!reading.counts()) {
        return;
    }
    const double value = reading.value;
    open_.min = open_.values == 0 ? value : std::min(open_.min, value);
    open_.max = open_.values == 0 ? value : std::max(open_.max, value);
    open_.last = value;
    ++open_.values;
    sum_ += value;
    any_uncertain_ = any_uncertain_ || reading.quality == Quality::uncertain;
}

}  // namespace telegate::processing
