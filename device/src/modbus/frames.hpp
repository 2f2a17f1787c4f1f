#pragma once

#include "modbus/read_plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

// Frames of both kinds of link: requests and responses. No socket, clock or log.
namespace telegate::modbus {

/// The maximum length of a TCP frame including its header; an RTU frame is at most 4 bytes shorter.
inline constexpr std::size_t frame_bytes_max = 260;

/// Returns the function code that reads a table: 1 to 4.
[[nodiscard]] std::uint8_t function_of(ModbusTable table) noexcept;
/// Returns the number of value bytes in the response to a request.
[[nodiscard]] std::size_t value_bytes_of(const AddressRange& request) noexcept;

/// Returns unit, function, address and count: an RTU request without its checksum.
[[nodiscard]] std::array<std::uint8_t, 6> request_bytes(const AddressRange& request) noexcept;
/// Returns a request with TCP header.
[[nodiscard]] std::array<std::uint8_t, 12> tcp_request(const AddressRange& request, std::uint16_t transaction) noexcept;

struct Answer {
    std::uint8_t exception = 0;  // 0: none
    std::span<const std::uint8_t> values = {};
};

/// The result of scanning the bytes received so far.
struct Scan {
    enum class Found : std::uint8_t {
        need_more,  // no complete frame yet
        answer,     // the response to this request
        other,      // an unrelated frame, such as a late response to an earlier request: must be skipped
        mismatch,   // a response to this request whose content does not fit it
        violation,  // not Modbus: the start of the next frame cannot be found
    };
    Found found = Found::need_more;
    std::size_t bytes = 0;  // to remove from the front; 0 with need_more and violation
    Answer answer = {};     // views the scanned bytes
};

/// Which unit a TCP response must name. Some devices put another unit number into their responses; this is harmless as
/// long as only one unit is requested over the connection.
enum class AnsweringUnit : std::uint8_t { any, requested };

/// Scans TCP input. Frames follow each other without gaps, and the transaction number identifies the response.
[[nodiscard]] Scan scan_tcp(std::span<const std::uint8_t> bytes, const AddressRange& request, std::uint16_t transaction,
                            AnsweringUnit unit = AnsweringUnit::requested) noexcept;

/// Scans RTU input. Other bytes can precede the response: noise, an echo of the request, or the late response of
/// another unit. The first frame with the expected unit, function and length and a valid checksum is the response.
[[nodiscard]] Scan scan_rtu(std::span<const std::uint8_t> bytes, const AddressRange& request) noexcept;

/// Computes the CRC of Modbus over serial lines.
[[nodiscard]] std::uint16_t crc16(std::span<const std::uint8_t> bytes) noexcept;

/// Returns the meaning of an exception code in lower case; "unknown" for a code that is not in the specification.
[[nodiscard]] std::string_view exception_text(std::uint8_t code) noexcept;

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
