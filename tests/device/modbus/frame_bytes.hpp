#pragma once

#include "modbus/frames.hpp"

#include <cstdint>
#include <vector>

namespace telegate::test {

using FrameBytes = std::vector<std::uint8_t>;

[[nodiscard]] inline FrameBytes with_crc(FrameBytes bytes) {
    const std::uint16_t crc = modbus::crc16(bytes);
    bytes.push_back(static_cast<std::uint8_t>(crc & 0xFFU));
    bytes.push_back(static_cast<std::uint8_t>(crc >> 8U));
    return bytes;
}

}  // namespace telegate::test
