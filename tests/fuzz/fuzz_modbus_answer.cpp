// Needs: device/src/modbus/frames.cpp

// The responses of Modbus units over TCP and over serial lines, and the values in them. The first six input bytes are
// the request (table and format, address, count, unit), the rest is the response.
#include "core/assert.hpp"
#include "modbus/frames.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

using namespace telegate;
using namespace telegate::modbus;
using Found = Scan::Found;

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t head_bytes = 6;
constexpr std::uint16_t transaction = 0x0102;
constexpr unsigned types = 9;

AddressRange to_request(Bytes head) {
    const auto table = static_cast<ModbusTable>(head[0] % 4);
    const unsigned count_max = has_bits(table) ? 2'000 : 125;
    const unsigned count = (unsigned{head[3]} << 8U | head[4]) % count_max + 1;
    return {head[5], table, static_cast<std::uint16_t>(unsigned{head[1]} << 8U | head[2]),
            static_cast<std::uint16_t>(count)};
}

void decode_all(Bytes values, const AddressRange& request, unsigned seed) {
    if (has_bits(request.table)) {
        for (std::size_t i = 0; i < request.count; ++i) {
            static_cast<void>(decode_bit(values, i));
        }
        return;
    }
    ValueFormat format{static_cast<ModbusType>(seed % types), (seed & 16U) != 0, (seed & 32U) != 0, {}};
    if ((seed & 64U) != 0) {
        format.bit = seed % 16;
    }
    const std::size_t step = registers_of(format.type);
    for (std::size_t i = 0; i + step <= request.count; i += step) {
        const RegisterValue value = decode_registers(values.subspan(2 * i, 2 * step), format);
        TELEGATE_ASSERT(value.exact || std::holds_alternative<double>(value.value));
    }
}

void check(const Scan& scan, Bytes bytes, const AddressRange& request) {
    TELEGATE_ASSERT(scan.bytes <= bytes.size());
    const bool takes_none = scan.found == Found::need_more || scan.found == Found::violation;
    TELEGATE_ASSERT(takes_none == (scan.bytes == 0));
    if (scan.found != Found::answer || scan.answer.exception != 0) {
        TELEGATE_ASSERT(scan.answer.values.empty());
        return;
    }
    const Bytes values = scan.answer.values;
    TELEGATE_ASSERT(values.size() == value_bytes_of(request));
    TELEGATE_ASSERT(values.data() >= bytes.data() && values.data() + values.size() <= bytes.data() + scan.bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < head_bytes) {
        return 0;
    }
    const AddressRange request = to_request({data, head_bytes});
    const Bytes bytes(data + head_bytes, std::min<std::size_t>(size - head_bytes, 2 * frame_bytes_max));

    const Scan tcp = scan_tcp(bytes, request, transaction);
    check(tcp, bytes, request);
    // A response is found with its last byte, and later bytes change nothing.
    if (tcp.bytes > 0) {
        TELEGATE_ASSERT(scan_tcp(bytes.first(tcp.bytes), request, transaction).found == tcp.found);
        TELEGATE_ASSERT(scan_tcp(bytes.first(tcp.bytes - 1), request, transaction).found == Found::need_more);
    }
    const Scan rtu = scan_rtu(bytes, request);
    check(rtu, bytes, request);
    TELEGATE_ASSERT(rtu.found == Found::answer || rtu.found == Found::need_more);
    for (const Scan& scan : {tcp, rtu}) {
        if (!scan.answer.values.empty()) {
            decode_all(scan.answer.values, request, data[0]);
        }
    }
    return 0;
}
