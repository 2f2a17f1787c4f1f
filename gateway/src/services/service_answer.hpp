#pragma once

#include "services/service_request.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace telegate {

/// The longest answer.
inline constexpr std::size_t answer_bytes_max = 1024 * 1024;

/// `{"service":"ping","id":1,"epoch":1795217494123`, the beginning of every answer.
[[nodiscard]] std::string begin_answer(const ServiceHead& head, std::int64_t epoch_ms);
/// An answer with an error. `retry_after` is told with `busy`.
[[nodiscard]] std::string error_answer(const ServiceFault& fault, std::int64_t epoch_ms,
                                       std::chrono::milliseconds retry_after);

}  // namespace telegate
