#include "modbus/frames.hpp"

#include "core/endian.hpp"
#include "shortest_real.hpp"

#include <bit>
#include <limits>

namespace telegate::modbus {
namespace {

constexpr std::uint8_t exception_flag = 0x80;
constexpr std::size_t tcp_header_bytes = 6;  // transaction, protocol, length; the length counts from the unit byte on
constexpr std::size_t length_min = 3;        // unit, function, and exception code
constexpr std::size_t length_max = frame_bytes_max - tcp_header_bytes;
constexpr std::size_t head_bytes = 3;  // start of a response: unit, function, and number of value bytes
constexpr std::size_t crc_bytes = 2;
constexpr std::size_t exception_bytes = 3;  // unit, function, code
constexpr std::uint16_t crc_start = 0xFFFF;
constexpr unsigned crc_polynomial = 0xA001;

constexpr std::uint8_t high(unsigned number) noexcept {
    return static_cast<std::uint8_t>(number >> byte_bits);
}
constexpr std::uint8_t low(unsigned number) noexcept {
    return static_cast<std::uint8_t>(number & 0xFFU);
}
std::uint16_t number_at(std::span<const std::uint8_t> bytes, std::size_t at) noexcept {
    return load_big_endian<std::uint16_t>(bytes.data() + at);
}

/// Compares a frame with the request. `frame` begins with the unit, without TCP header and checksum.
Scan check_frame(std::span<const std::uint8_t> frame, const AddressRange& request, std::size_t bytes) noexcept {
    const std::uint8_t function = function_of(request.table);
    if (frame[1] == (function | exception_flag) && frame.size() == exception_bytes && frame[2] != 0) {
        return {Scan::Found::answer, bytes, {frame[2], {}}};
    }
    const std::size_t value_bytes = value_bytes_of(request);
    if (frame[1] == function && frame[2] == value_bytes && frame.size() == head_bytes + value_bytes) {
        return {Scan::Found::answer, bytes, {0, frame.subspan(head_bytes)}};
    }
    return {Scan::Found::mismatch, bytes, {}};
}

/// Returns the length of the response that begins here; 0 if none does.
std::size_t rtu_bytes(std::span<const std::uint8_t> bytes, const AddressRange& request) noexcept {
    const std::uint8_t function = function_of(request.table);
    if (bytes.size() < 2 || bytes[0] != request.unit) {
        return 0;
    }
    if (bytes[1] == (function | exception_flag)) {
        return exception_bytes + crc_bytes;
    }
    const std::size_t value_bytes = value_bytes_of(request);
    const bool fits = bytes[1] == function && bytes.size() >= head_bytes && bytes[2] == value_bytes;
    return fits ? head_bytes + value_bytes + crc_bytes : 0;
}

bool has_right_crc(std::span<const std::uint8_t> frame) noexcept {
    const std::size_t end = frame.size() - crc_bytes;
    const std::uint16_t crc = crc16(frame.first(end));
    return frame[end] == low(crc) && frame[end + 1] == high(crc);  // the only number sent low byte first
}

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

std::uint8_t function_of(ModbusTable table) noexcept {
    switch (table) {
        case ModbusTable::coil: return 1;
        case ModbusTable::discrete: return 2;
        case ModbusTable::holding: return 3;
        case ModbusTable::input: break;
    }
    return 4;
}

std::size_t value_bytes_of(const AddressRange& request) noexcept {
    return has_bits(request.table) ? (request.count + byte_bits - 1) / byte_bits : request.count * std::size_t{2};
}

std::array<std::uint8_t, 6> request_bytes(const AddressRange& request) noexcept {
    return {request.unit,         function_of(request.table), high(request.address),
            low(request.address), high(request.count),        low(request.count)};
}

std::array<std::uint8_t, 12> tcp_request(const AddressRange& request, std::uint16_t transaction) noexcept {
    const auto body = request_bytes(request);
    return {high(transaction), low(transaction), 0,       0,       0,       low(body.size()),
            body[0],           body[1],          body[2], body[3], body[4], body[5]};
}

Scan scan_tcp(std::span<const std::uint8_t> bytes, const AddressRange& request, std::uint16_t transaction,
              AnsweringUnit unit) noexcept {
    if (bytes.size() < tcp_header_bytes) {
        return {};
    }
    const std::size_t length = number_at(bytes, 4);
    if (number_at(bytes, 2) != 0 || length < length_min || length > length_max) {
        return {Scan::Found::violation, 0, {}};
    }
    const std::size_t whole = tcp_header_bytes + length;
    if (bytes.size() < whole) {
        return {};
    }
    if (number_at(bytes, 0) != transaction) {
        return {Scan::Found::other, whole, {}};
    }
    if (unit == AnsweringUnit::requested && bytes[tcp_header_bytes] != request.unit) {
        return {Scan::Found::mismatch, whole, {}};
    }
    return check_frame(bytes.subspan(tcp_header_bytes, length), request, whole);
}

Scan scan_rtu(std::span<const std::uint8_t> bytes, const AddressRange& request) noexcept {
    for (std::size_t begin = 0; begin < bytes.size(); ++begin) {
        const std::span<const std::uint8_t> rest = bytes.subspan(begin);
        const std::size_t length = rtu_bytes(rest, request);
        if (length == 0 || rest.size() < length || !has_right_crc(rest.first(length))) {
            continue;  // an incomplete frame must not hide a complete one after it
        }
        const Scan scan = check_frame(rest.first(length - crc_bytes), request, begin + length);
        if (scan.found == Scan::Found::answer) {
            return scan;
        }
    }
    return {};
}

std::uint16_t crc16(std::span<const std::uint8_t> bytes) noexcept {
    unsigned crc = crc_start;
    for (const std::uint8_t byte : bytes) {
        crc ^= byte;
        for (unsigned bit = 0; bit < byte_bits; ++bit) {
            crc = (crc & 1U) != 0 ? (crc >> 1U) ^ crc_polynomial : crc >> 1U;
        }
    }
    return static_cast<std::uint16_t>(crc);
}

std::string_view exception_text(std::uint8_t code) noexcept {
    constexpr std::array<std::string_view, 12> texts{
        "",
        "illegal function",
        "illegal data address",
        "illegal data value",
        "device failure",
        "acknowledged, still processing",
        "device busy",
        "negative acknowledge",
        "memory parity error",
        "",
        "gateway path unavailable",
        "gateway target does not respond",
    };
    return code < texts.size() && !texts[code].empty() ? texts[code] : "unknown";
}

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
