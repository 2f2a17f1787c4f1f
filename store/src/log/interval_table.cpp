#include "store/interval_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace telegate::store {
namespace {

std::optional<double> number_of(const TelemetrySample& sample) noexcept {
    switch (sample.type) {
        case ValueType::real: return std::isfinite(sample.value.real) ? std::optional(sample.value.real) : std::nullopt;
        case ValueType::integer: return static_cast<double>(sample.value.integer);
        case ValueType::boolean: return sample.value.boolean ? 1.0 : 0.0;
        case ValueType::text:
        case ValueType::none: break;
    }
    return std::nullopt;
}

/// Returns the multiple of `length` at or before `time`.
std::int64_t start_of(std::int64_t time, std::int64_t length) noexcept {
    constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min();
    const std::int64_t remainder = time % length;
    const std::int64_t into = remainder < 0 ? remainder + length : remainder;
    return time < first + into ? first : time - into;
}

}  // namespace

bool IntervalTable::add(std::span<const TelemetrySample> samples, std::span<const BlockGap> gaps) {
    for_entries(
        samples, gaps, [this](const BlockGap& gap) { add(gap.gap); },
        [this](const TelemetrySample& sample) { add(sample); });
    return intervals_.size() <= intervals_max_;
}

Interval& IntervalTable::interval_at(std::int64_t time_ns) {
    const std::int64_t start = start_of(time_ns, length_ns_);
    if (last_ == intervals_.end() || last_->first != start) {
        last_ = intervals_.try_emplace(start).first;
    }
    return last_->second;
}

void IntervalTable::add(const LogGap& gap) {
    std::uint64_t& missing = last_ == intervals_.end() ? missing_ : last_->second.missing;
    missing += gap.last_seq - gap.first_seq + 1;
}

void IntervalTable::add(const TelemetrySample& sample) {
    Interval& interval = interval_at(sample.time_utc_ns);
    interval.missing += missing_;
    missing_ = 0;
    interval.first_ns = interval.count == 0 ? sample.time_utc_ns : interval.first_ns;
    interval.last_ns = sample.time_utc_ns;
    ++interval.count;
    interval.not_good += sample.quality == Quality::good ? 0U : 1U;
    if (const auto number = number_of(sample)) {
        interval.min = interval.numbers == 0 ? *number : std::min(interval.min, *number);
        interval.max = interval.numbers == 0 ? *number : std::max(interval.max, *number);
        ++interval.numbers;
        interval.mean += (*number - interval.mean) / static_cast<double>(interval.numbers);
    }
}

}  // namespace telegate::store
