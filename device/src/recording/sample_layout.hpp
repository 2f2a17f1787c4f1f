#pragma once

#include "core/telemetry_sample.hpp"

#include <cstddef>

namespace telegate::recording {

/// The offsets of the fields of a sample, in memory and on disk.
namespace sample_offset {
inline constexpr std::size_t channel = 24;
inline constexpr std::size_t type = 28;
inline constexpr std::size_t quality = 29;
inline constexpr std::size_t flags = 30;
inline constexpr std::size_t text_bytes = 31;
inline constexpr std::size_t value = 32;
}  // namespace sample_offset

static_assert(offsetof(TelemetrySample, time_utc_ns) == 0 && offsetof(TelemetrySample, time_mono_ns) == 8);
static_assert(offsetof(TelemetrySample, seq) == 16 && offsetof(TelemetrySample, channel) == sample_offset::channel);
static_assert(offsetof(TelemetrySample, type) == sample_offset::type);
static_assert(offsetof(TelemetrySample, quality) == sample_offset::quality);
static_assert(offsetof(TelemetrySample, flags) == sample_offset::flags);
static_assert(offsetof(TelemetrySample, text_bytes) == sample_offset::text_bytes);
static_assert(offsetof(TelemetrySample, value) == sample_offset::value);
// Readers in other languages use these numbers.
static_assert(static_cast<int>(ValueType::none) == 0 && static_cast<int>(ValueType::real) == 1);
static_assert(static_cast<int>(ValueType::integer) == 2 && static_cast<int>(ValueType::boolean) == 3);
static_assert(static_cast<int>(ValueType::text) == 4 && static_cast<int>(Quality::good) == 0);
static_assert(static_cast<int>(Quality::uncertain) == 1 && static_cast<int>(Quality::bad) == 2);
static_assert(static_cast<int>(Quality::stale) == 3 && sample_flag::text_truncated == 1);

}  // namespace telegate::recording
