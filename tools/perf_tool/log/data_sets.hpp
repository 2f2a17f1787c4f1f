#pragma once

#include "core/telemetry_sample.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

/// Samples that a log stores. Each can be computed on its own, so that every reader is checked against them.
namespace telegate::perf {

/// Channels that are all read at 10 Hz, each hundred of them by a device with times of its own.
struct DataSet {
    std::string name;
    double bytes_goal;  // bytes per sample in the log
    /// Sets type and value of a channel at a tick; `random` differs for each channel and tick.
    void (*set_value)(TelemetrySample& sample, std::size_t channel, std::uint64_t tick, std::uint64_t random);
};

inline constexpr std::int64_t tick_ns = 100'000'000;
inline constexpr std::uint64_t ticks_per_second = 10;
inline constexpr std::int64_t first_utc_ns = 1'767'225'600'000'000'000;
inline constexpr std::int64_t first_mono_ns = 5'000'000'000'000;

/// Returns a number that looks random: the finalizer of SplitMix64.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t number) noexcept {
    number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9;
    number = (number ^ (number >> 27U)) * 0x94D049BB133111EB;
    return number ^ (number >> 31U);
}
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t one, std::uint64_t other) noexcept {
    return mixed(one * 0x9E3779B97F4A7C15 + mixed(other + 1));
}

inline void set_real(TelemetrySample& sample, double value) noexcept {
    sample.type = ValueType::real;
    sample.value.real = value;
}
inline void set_integer(TelemetrySample& sample, std::uint64_t value) noexcept {
    sample.type = ValueType::integer;
    sample.value.integer = static_cast<std::int64_t>(value);
}

/// Temperatures and pressures in steps of 0.01: slow waves with the noise of a converter.
inline void set_process_value(TelemetrySample& sample, std::size_t channel, std::uint64_t tick, std::uint64_t random) {
    const double period = 6'000.0 + 37.0 * static_cast<double>(channel);
    const double wave = 4'000.0 * std::sin(2 * std::numbers::pi * static_cast<double>(tick) / period);
    const double noise = random % 8 == 0 ? 1.0 : 0.0;
    set_real(sample, (std::round(wave) + noise + 5'000.0) / 100.0);
}

/// Counters of bytes and of events, shares in steps of 0.1 that change every 6.4 s, and states.
inline void set_counter(TelemetrySample& sample, std::size_t channel, std::uint64_t tick, std::uint64_t random) {
    constexpr std::uint64_t rate = 1'500;
    constexpr std::uint64_t steps = 64;
    switch (channel % 4) {
        case 0: return set_integer(sample, tick * rate + random % rate);
        case 1: return set_integer(sample, channel + tick);
        case 2: return set_real(sample, static_cast<double>(mixed(channel, tick / steps) % 1'000) / 10.0);
        default: break;
    }
    sample.type = ValueType::boolean;
    sample.value.boolean = mixed(channel, tick / steps) % 2 == 1;
}

/// All 52 bits of the fraction are random.
inline void set_noise(TelemetrySample& sample, std::size_t /*channel*/, std::uint64_t /*tick*/, std::uint64_t random) {
    set_real(sample, static_cast<double>(random >> 11U) * 0x1p-53);
}

[[nodiscard]] inline std::vector<DataSet> data_sets() {
    return {{"process", 1.2, set_process_value}, {"counters", 3.0, set_counter}, {"noise", 8.0, set_noise}};
}

[[nodiscard]] inline TelemetrySample sample_of(const DataSet& set, std::size_t channel, std::uint64_t tick) {
    constexpr std::size_t device_channels = 100;
    constexpr std::uint64_t lateness_ns = 50'000;
    constexpr std::int64_t device_ns = 200'000;
    const std::uint64_t device = channel / device_channels;
    TelemetrySample sample{};
    sample.time_mono_ns = first_mono_ns + static_cast<std::int64_t>(tick) * tick_ns +
                          static_cast<std::int64_t>(device) * device_ns +
                          static_cast<std::int64_t>(mixed(~device, tick) % lateness_ns);
    sample.time_utc_ns = sample.time_mono_ns + (first_utc_ns - first_mono_ns);
    sample.seq = tick + 1;
    sample.channel = static_cast<ChannelId>(channel);
    set.set_value(sample, channel, tick, mixed(channel, tick));
    return sample;
}

/// Writes the samples of all channels at a tick.
inline void make_tick(const DataSet& set, std::uint64_t tick, std::vector<TelemetrySample>& samples) {
    for (std::size_t channel = 0; channel < samples.size(); ++channel) {
        samples[channel] = sample_of(set, channel, tick);
    }
}

[[nodiscard]] inline bool equal(const TelemetrySample& a, const TelemetrySample& b) noexcept {
    const auto value_of = [](const TelemetrySample& sample) {
        switch (sample.type) {
            case ValueType::real: return std::bit_cast<std::uint64_t>(sample.value.real);
            case ValueType::integer: return static_cast<std::uint64_t>(sample.value.integer);
            default: return std::uint64_t{sample.value.boolean};
        }
    };
    return a.time_utc_ns == b.time_utc_ns && a.time_mono_ns == b.time_mono_ns && a.seq == b.seq &&
           a.channel == b.channel && a.type == b.type && a.quality == b.quality && a.flags == b.flags &&
           value_of(a) == value_of(b);
}

}  // namespace telegate::perf
