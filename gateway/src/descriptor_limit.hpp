#pragma once

#include <cstddef>

namespace telegate {

/// Raises this process's limit of open descriptors as far as it may, since each subscriber costs one and the usual
/// limit of 1,024 is for programs that use select(). Returns the limit now in force. Threads: the main thread, at
/// start.
[[nodiscard]] std::size_t raise_descriptor_limit() noexcept;

}  // namespace telegate
