#include "simulated/waveform_generator.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace telegate {
namespace {

constexpr double walk_steps_per_amplitude = 100.0;
constexpr double walk_amplitudes_max = 10.0;
constexpr int noise_terms = 12;  // the sum of these uniform numbers has variance 1 and a range of -6 to 6
constexpr double noise_sigmas_per_amplitude = 3.0;

}  // namespace

std::string_view to_string(Waveform waveform) noexcept {
    static_assert(std::ranges::is_sorted(named_waveforms, {}, &std::pair<std::string_view, Waveform>::second));
    return named_waveforms[static_cast<std::size_t>(waveform)].first;
}

std::vector<Waveform> all_waveforms() {
    std::vector<Waveform> all;
    for (const auto& [name, waveform] : named_waveforms) {
        all.push_back(waveform);
    }
    return all;
}

WaveformGenerator::WaveformGenerator(Waveform waveform, const SimulatedDriverOptions& options,
                                     std::uint64_t seed) noexcept
    : waveform_(waveform),
      amplitude_(options.amplitude),
      offset_(options.offset),
      period_(options.period),
      random_(seed, static_cast<std::uint64_t>(waveform)) {}

WaveformGenerator::Value WaveformGenerator::next(Duration elapsed) noexcept {
    ++count_;
    switch (waveform_) {
        case Waveform::sine: return {false, offset_ + amplitude_ * std::sin(2.0 * std::numbers::pi * phase(elapsed))};
        case Waveform::ramp: return {false, offset_ + amplitude_ * (2.0 * phase(elapsed) - 1.0)};
        case Waveform::square: return {false, phase(elapsed) < 0.5 ? offset_ + amplitude_ : offset_ - amplitude_};
        case Waveform::random_walk: return {false, offset_ + walk()};
        case Waveform::noise: return {false, offset_ + noise()};
        case Waveform::counter: return {true, 0.0, count_};
    }
    return {};
}

/// Returns 0 <= phase < 1. Calculated from whole nanoseconds, so precision does not decrease over time.
double WaveformGenerator::phase(Duration elapsed) const noexcept {
    return static_cast<double>((elapsed % period_).count()) / static_cast<double>(period_.count());
}

double WaveformGenerator::walk() noexcept {
    if (count_ == 1) {
        return distance_;
    }
    const double limit = std::abs(amplitude_) * walk_amplitudes_max;
    distance_ += (2.0 * random_.next_unit() - 1.0) * amplitude_ / walk_steps_per_amplitude;
    if (std::abs(distance_) > limit) {  // a step is much smaller than the limit, so one reflection is enough
        distance_ = std::copysign(2.0 * limit - std::abs(distance_), distance_);
    }
    return distance_;
}

double WaveformGenerator::noise() noexcept {
    double sum = 0.0;
    for (int term = 0; term < noise_terms; ++term) {
        sum += random_.next_unit();
    }
    return (sum - noise_terms / 2.0) * amplitude_ / noise_sigmas_per_amplitude;
}

}  // namespace telegate
