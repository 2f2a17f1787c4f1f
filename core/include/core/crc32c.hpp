#pragma once

#include "core/bytes.hpp"

#include <cstdint>

namespace telegate {

/// Returns the CRC-32C (Castagnoli) of `bytes`: reflected polynomial 0x1EDC6F41, initial value and final XOR all ones.
/// The CRC of "123456789" is 0xE3069283. Threads: any.
[[nodiscard]] std::uint32_t crc32c(Bytes bytes) noexcept;

}  // namespace telegate
