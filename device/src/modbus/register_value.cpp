#include "modbus/register_value.hpp"

#include "shortest_real.hpp"

#include <bit>
#include <limits>

namespace telegate::modbus {
namespace {

std::uint64_t join(std::span<const std::uint8_t> registers, const ValueFormat& format) noexcept {
    std::uint64_t joined = 0;
    for (std::size_t i = 0; i + 1 < registers.size(); i += 2) {
        const unsigned high = registers[format.byte_swap ? i + 1 : i];
        const unsigned low = registers[format.byte_swap ? i : i + 1];
        const std::uint64_t word = (high << byte_bits) | low;
        if (format.low_word_first) {
            joined |= word << (i / 2 * register_bits);
        } else {
            joined = (joined << register_bits) | word;
        }
    }
    return joined;
}

RegisterValue from_uint64(std::uint64_t bits) noexcept {
    if (bits <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return {static_cast<std::int64_t>(bits)};
    }
    return {static_cast<double>(bits), false};
}

template <class Signed>
RegisterValue from_signed(std::uint64_t bits) noexcept {
    return {static_cast<std::int64_t>(static_cast<Signed>(bits))};
}

}  // namespace

RegisterValue decode_registers(std::span<const std::uint8_t> registers, const ValueFormat& format) noexcept {
    const std::uint64_t bits = join(registers, format);
    switch (format.type) {
        case ModbusType::boolean: return {format.bit ? ((bits >> *format.bit) & 1U) != 0 : bits != 0};
        case ModbusType::int16: return from_signed<std::int16_t>(bits);
        case ModbusType::int32: return from_signed<std::int32_t>(bits);
        case ModbusType::int64: return from_signed<std::int64_t>(bits);
        case ModbusType::float32: return {shortest_real(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))};
        case ModbusType::float64: return {std::bit_cast<double>(bits)};
        case ModbusType::uint16:
        case ModbusType::uint32:
        case ModbusType::uint64: break;
    }
    return from_uint64(bits);
}

bool decode_bit(std::span<const std::uint8_t> bits, std::size_t index) noexcept {
    const unsigned eight = bits[index / byte_bits];
    return ((eight >> (index % byte_bits)) & 1U) != 0;
}

}  // namespace telegate::modbus
