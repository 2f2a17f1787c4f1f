#include "processing/value_window.hpp"

#include <algorithm>

namespace telegate::processing {

void ValueWindow::continue_from(const ValueWindow& before) noexcept {
    if (before.length_ns_ == length_ns_ && before.align_ == align_) {
        *this = before;
    }
}

bool ValueWindow::close_at(std::int64_t time_ns) noexcept {
    const bool went_back = time_ns < start_ns_ - length_ns_;
    const bool closes = is_open_ && (went_back || time_ns >= end_ns_);
    if (closes) {
        open_.is_partial = open_.is_partial || (went_back && time_ns < end_ns_);
        const bool all_good = open_.values == readings_ && !any_uncertain_ && !open_.is_partial;
        open_.quality = open_.values == 0 ? Quality::bad : all_good ? Quality::good : Quality::uncertain;
        open_.mean = sum_ / static_cast<double>(std::max<std::uint64_t>(open_.values, 1));
        open_.end_ns = end_ns_;
        closed_ = open_;
        start_ns_ = end_ns_;
        is_open_ = false;
    }
    if (went_back) {
        passed_ns_ = std::max(passed_ns_, start_ns_);
        start_ns_ = time_ns - 2 * length_ns_;  // no window ends at the boundary before this time
        is_settled_ = false;
    }
    return closes;
}

void ValueWindow::open(std::int64_t time_ns, std::int64_t utc_less_mono_ns) noexcept {
    const std::int64_t ahead_ns = align_ == WindowAlign::wall ? utc_less_mono_ns : 0;
    const std::int64_t past = (time_ns + ahead_ns) % length_ns_;
    const std::int64_t boundary = time_ns - past - (past < 0 ? length_ns_ : 0);
    // The wall clock is never exactly where the monotonic clock predicts it.
    const std::int64_t tolerance = length_ns_ / early_share;
    is_settled_ = is_settled_ || boundary - start_ns_ <= tolerance || boundary >= passed_ns_;
    start_ns_ = std::max(start_ns_, boundary);
    end_ns_ = boundary + length_ns_;
    if (end_ns_ - start_ns_ <= tolerance) {
        end_ns_ += length_ns_;
    }
    is_open_ = true;
    any_uncertain_ = false;
    readings_ = 0;
    sum_ = 0.0;
    open_ = {};
    open_.utc_less_mono_ns = utc_less_mono_ns;
    open_.is_partial = has_begun_ ? end_ns_ - start_ns_ < length_ns_ - tolerance || !is_settled_ : time_ns > boundary;
    has_begun_ = true;
}

void ValueWindow::add(const Reading& reading, std::int64_t utc_less_mono_ns) noexcept {
    if (!is_open_) {
        open(reading.time_ns, utc_less_mono_ns);
    }
    if (align_ == WindowAlign::monotonic) {
        open_.utc_less_mono_ns = utc_less_mono_ns;  // of the last reading
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
