#pragma once

#include "modbus/read_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

namespace telegate::modbus {

/// How many registers a value of this type takes.
[[nodiscard]] unsigned registers_of(ModbusType type) noexcept;

struct ValueFormat {
    ModbusType type = ModbusType::uint16;
    bool low_word_first = false;
    bool byte_swap = false;
    std::optional<unsigned> bit = {};  // of a boolean: this one, 0 the lowest; otherwise whether any is set
};

struct RegisterValue {
    std::variant<bool, std::int64_t, double> value = false;
    bool exact = true;  // false: a uint64 beyond the int64, as the nearest double
};

/// `registers` are as they came, two bytes each, and registers_of(format.type) of them.
[[nodiscard]] RegisterValue decode_registers(std::span<const std::uint8_t> registers,
                                             const ValueFormat& format) noexcept;

/// Of bits packed as they come: the first is the lowest of the first byte.
[[nodiscard]] bool decode_bit(std::span<const std::uint8_t> bits, std::size_t index) noexcept;

}  // namespace telegate::modbus
