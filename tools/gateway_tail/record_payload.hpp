#pragma once

#include "sample.hpp"

#include <cstddef>
#include <string_view>

namespace telegate::tail {

/// Size of a record in the `record` format of docs/wire.md.
inline constexpr std::size_t record_bytes = 64;

/// Returns whether a payload consists of sample records only and is not empty.
[[nodiscard]] bool are_sample_records(std::string_view payload) noexcept;
/// Reads the first record of such a payload, without the topic. Texts point into the payload.
void read_record(std::string_view payload, Sample& sample) noexcept;

}  // namespace telegate::tail
