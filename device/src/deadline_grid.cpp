#include "deadline_grid.hpp"

#include <algorithm>
#include <cmath>

namespace telegate {
namespace {

/// Returns a remainder from 0 to below the interval, even for negative numbers.
Duration remainder_of(std::int64_t ns, Duration interval) noexcept {
    const std::int64_t rest = ns % interval.count();
    return Duration(rest < 0 ? rest + interval.count() : rest);
}

/// Returns offsets that are far apart for any number of devices: multiples of the golden ratio.
Duration place_in(Duration interval, std::uint32_t place) noexcept {
    constexpr double golden = 0.618'033'988'749'895;
    double whole = 0;
    return Duration(
        static_cast<std::int64_t>(std::modf(place * golden, &whole) * static_cast<double>(interval.count())));
}

}  // namespace

void DeadlineGrid::set_rule(GridRule rule) noexcept {
    if (!(rule == rule_)) {
        rule_ = rule;
        due_.reset();
    }
}

void DeadlineGrid::begin(MonoTime now, std::int64_t utc_less_mono) noexcept {
    Duration past{0};  // since the last deadline of the grid
    switch (rule_.alignment) {
        case Alignment::start: due_ = now + rule_.offset; return;
        case Alignment::wall:
            past = remainder_of(to_ns(now) + utc_less_mono - rule_.offset.count(), rule_.interval);
            break;
        case Alignment::spread:
            past = remainder_of(to_ns(now) - (place_in(rule_.interval, rule_.place) + rule_.offset).count(),
                                rule_.interval);
            break;
    }
    due_ = past == Duration(0) ? now : now + (rule_.interval - past);
}

std::uint64_t DeadlineGrid::advance(MonoTime now) noexcept {
    const auto missed = std::max<std::int64_t>((now - *due_) / rule_.interval, 0);
    *due_ += (missed + 1) * rule_.interval;
    return static_cast<std::uint64_t>(missed);
}

/// Returns how far the deadline is from the nearest one on the wall clock; negative: too early.
Duration DeadlineGrid::misfit(std::int64_t utc_less_mono) const noexcept {
    const Duration past = remainder_of(to_ns(*due_) + utc_less_mono - rule_.offset.count(), rule_.interval);
    return past > rule_.interval / 2 ? past - rule_.interval : past;
}

bool DeadlineGrid::is_off(std::int64_t utc_less_mono) const noexcept {
    if (rule_.alignment != Alignment::wall) {
        return false;
    }
    const Duration off = misfit(utc_less_mono);
    return std::max(off, -off) > std::min(step_min, rule_.interval / 4);
}

void DeadlineGrid::realign(std::int64_t utc_less_mono) noexcept {
    *due_ -= misfit(utc_less_mono);
}

std::int64_t utc_less_mono_ns(const Clock& clock) noexcept {
    const ClockPair now = read_both(clock);
    return now.utc_ns - now.mono_ns;
}

}  // namespace telegate
