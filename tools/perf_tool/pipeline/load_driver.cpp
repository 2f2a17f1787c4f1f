#include "load_driver.hpp"

#include <algorithm>
#include <cmath>

namespace telegate::perf {

namespace {

constexpr double ns_per_second = 1e9;

/// Short numbers with a few decimals, as most sensors give.
double value_of(std::uint64_t sample) noexcept {
    constexpr std::uint64_t values = 1'024;
    return static_cast<double>(sample % values) / 8;
}

}  // namespace

std::string channel_name(std::size_t channel) {
    const std::string digits = std::to_string(channel);
    return std::string(1, 'c').append(4 - digits.size(), '0').append(digits);
}

LoadDriver::LoadDriver(Load load, MonoTime::duration interval, CaptureTimes& times, LoadProgress& progress)
    : load_(load),
      samples_per_tick_max_(std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(std::ceil(2 * static_cast<double>(load.rate) *
                                                  static_cast<double>(interval.count()) / ns_per_second)))),
      times_(times),
      progress_(progress) {}

void LoadDriver::open(SampleBatch& batch) {
    channels_.clear();
    for (std::size_t channel = 0; channel < load_.channels; ++channel) {
        channels_.push_back(batch.add_channel(channel_name(channel), "1"));
    }
}

ReadResult LoadDriver::read(SampleBatch& batch, MonoTime now) noexcept {
    const std::uint64_t count = times_.full() ? 0 : owed(now);
    if (count == 0) {
        return {};
    }
    times_.add(given_, to_ns(now));
    for (std::uint64_t sample = 0; sample < count; ++sample) {
        batch.add(channels_[next_channel_], value_of(given_ + sample));
        next_channel_ = next_channel_ + 1 == channels_.size() ? 0 : next_channel_ + 1;
    }
    if (given_ == 0) {
        progress_.first_mono_ns = to_ns(now);
    }
    given_ += count;
    progress_.last_mono_ns = to_ns(now);
    progress_.given = given_;
    return {};
}

/// The first tick owes one sample; a tick that is late by less than an interval owes no more for it.
std::uint64_t LoadDriver::owed(MonoTime now) {
    started_ = started_.value_or(now);
    const double seconds = static_cast<double>((now - *started_).count()) / ns_per_second;
    const auto due = 1 + static_cast<std::uint64_t>(seconds * static_cast<double>(load_.rate));
    return std::min(std::min(due, load_.samples) - given_, samples_per_tick_max_);
}

}  // namespace telegate::perf
