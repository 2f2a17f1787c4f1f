#pragma once

#include "core/bytes.hpp"

#include <cstdint>

namespace telegate::recording {

/// CRC-32C (Castagnoli): polynomial 0x1EDC6F41 reflected, begins and ends with all ones; of "123456789" 0xE3069283.
[[nodiscard]] std::uint32_t crc32c(Bytes bytes) noexcept;

}  // namespace telegate::recording
