#pragma once

#include "modbus/read_plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Frames of both kinds of link: requests out, answers in. No socket, clock or log.
namespace telegate::modbus {

/// The largest frame of TCP, header included; that of RTU is 4 bytes shorter.
inline constexpr std::size_t frame_bytes_max = 260;

/// The function that reads a table: 1 to 4.
[[nodiscard]] std::uint8_t function_of(ModbusTable table) noexcept;
/// Bytes of values in the answer to a request.
[[nodiscard]] std::size_t value_bytes_of(const Stretch& request) noexcept;

/// Unit, function, address and count: all of an RTU request but its checksum.
[[nodiscard]] std::array<std::uint8_t, 6> request_bytes(const Stretch& request) noexcept;
/// The same behind the header of TCP.
[[nodiscard]] std::array<std::uint8_t, 12> tcp_request(const Stretch& request, std::uint16_t transaction) noexcept;

struct Answer {
    std::uint8_t exception = 0;  // 0: none
    std::span<const std::uint8_t> values = {};
};

/// What was found in the bytes that have come so far.
struct Scan {
    enum class Found : std::uint8_t {
        need_more,  // nothing yet
        answer,     // to this request
        other,      // a frame that is none of ours, such as a late answer to an earlier request: to be skipped
        mismatch,   // the answer to this request, but not what was asked for
        violation,  // not Modbus: where a next frame begins cannot be known
    };
    Found found = Found::need_more;
    std::size_t bytes = 0;  // to be taken from the front; 0 with need_more and violation
    Answer answer = {};     // within the bytes
};

/// Whose answer is taken. Some devices put a number of their own into each, which does no harm as long as one unit is
/// asked over the connection.
enum class AnsweringUnit : std::uint8_t { any, asked };

/// Frames follow each other without gaps, and the transaction tells which one is ours.
[[nodiscard]] Scan scan_tcp(std::span<const std::uint8_t> bytes, const Stretch& request, std::uint16_t transaction,
                            AnsweringUnit unit = AnsweringUnit::asked) noexcept;

/// On a line there may be anything before the answer: noise, an echo of the request, the late answer of another unit.
/// The first frame that has the unit, function and length of our answer and a right checksum is taken for it.
[[nodiscard]] Scan scan_rtu(std::span<const std::uint8_t> bytes, const Stretch& request) noexcept;

/// Of Modbus over serial lines.
[[nodiscard]] std::uint16_t crc16(std::span<const std::uint8_t> bytes) noexcept;

/// What an exception code means, in lower case; "unknown" for one that the specification does not have.
[[nodiscard]] std::string_view exception_text(std::uint8_t code) noexcept;

}  // namespace telegate::modbus
