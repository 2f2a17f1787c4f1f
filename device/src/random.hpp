#pragma once

#include <cstdint>

namespace telegate {

/// SplitMix64 (Steele, Lea and Flood, 2014). Implemented here because the distributions of the standard library differ
/// between implementations, and a seed must give the same values everywhere.
class RandomStream {
  public:
    /// Streams of one seed with different numbers are independent.
    RandomStream(std::uint64_t seed, std::uint64_t stream) noexcept : state_(mix(mix(seed) + stream)) {}

    [[nodiscard]] std::uint64_t next() noexcept {
        state_ += golden_gamma;
        return mix(state_);
    }
    /// Returns a value from 0 to below 1, in steps of 2^-53.
    [[nodiscard]] double next_unit() noexcept { return static_cast<double>(next() >> 11U) * 0x1p-53; }

  private:
    static constexpr std::uint64_t golden_gamma = 0x9E37'79B9'7F4A'7C15;

    [[nodiscard]] static constexpr std::uint64_t mix(std::uint64_t bits) noexcept {
        bits = (bits ^ (bits >> 30U)) * 0xBF58'476D'1CE4'E5B9;
        bits = (bits ^ (bits >> 27U)) * 0x94D0'49BB'1331'11EB;
        return bits ^ (bits >> 31U);
    }

    std::uint64_t state_;
};

}  // namespace telegate
