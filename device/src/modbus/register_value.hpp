#pragma once

#include "modbus/read_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

namespace telegate::modbus {

/// Returns the number of registers of a value of this type.
[[nodiscard]] constexpr unsigned registers_of(ModbusType type) noexcept {
    switch (type) {
        case ModbusType::int32:
        case ModbusType::uint32:
        case ModbusType::float32: return 2;
        case ModbusType::int64:
        case ModbusType::uint64:
        case ModbusType::float64: return 4;
        default: return 1;
    }
}

struct ValueFormat {
    ModbusType type = ModbusType::uint16;
    bool low_word_first = false;
    bool byte_swap = false;
    // for a boolean: the bit to decode, 0 is the lowest; not set: whether any bit is set
    std::optional<unsigned> bit = {};
};

struct RegisterValue {
    std::variant<bool, std::int64_t, double> value = false;
    bool exact = true;  // false: a uint64 above the int64 maximum, as the nearest double
};

/// Decodes a value. `registers` are registers_of(format.type) registers as received, two bytes each.
[[nodiscard]] RegisterValue decode_registers(std::span<const std::uint8_t> registers,
                                             const ValueFormat& format) noexcept;

/// Decodes one of the packed bits of a response; the first bit is the lowest of the first byte.
[[nodiscard]] bool decode_bit(std::span<const std::uint8_t> bits, std::size_t index) noexcept;

}  // namespace telegate::modbus
