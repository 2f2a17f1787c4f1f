#pragma once

#include "sample.hpp"

#include <cstddef>
#include <string_view>

namespace telegate::tail {

/// The `record` format of docs/wire.md.
inline constexpr std::size_t record_bytes = 64;

/// Whether a payload is nothing but records of samples; it is not empty then.
[[nodiscard]] bool are_sample_records(std::string_view payload) noexcept;
/// The first of such a payload, all but the topic. Texts show into it.
void read_record(std::string_view payload, Sample& sample) noexcept;

/// The record of a notice, all but the topic. False: it is none.
[[nodiscard]] bool read_gap_record(std::string_view payload, Gap& gap) noexcept;
[[nodiscard]] bool read_beat_record(std::string_view payload, Beat& beat) noexcept;

}  // namespace telegate::tail
