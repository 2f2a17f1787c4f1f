#pragma once

#include "services/service_request.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace telegate {

/// The maximum size of a reply.
inline constexpr std::size_t answer_bytes_max = 1024 * 1024;

/// Returns the beginning of every reply: `{"service":"ping","id":1,"epoch":1795217494123`.
[[nodiscard]] std::string begin_answer(const ServiceHead& head, std::int64_t epoch_ms);
/// Returns an error reply. `retry_after` is included for `busy`.
[[nodiscard]] std::string error_answer(const ServiceFault& fault, std::int64_t epoch_ms,
                                       std::chrono::milliseconds retry_after);

}  // namespace telegate
