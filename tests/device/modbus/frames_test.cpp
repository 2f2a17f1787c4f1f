#include "modbus/frames.hpp"
#include "modbus_bench.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <span>

using namespace telegate;
using namespace telegate::modbus;
using test::FrameBytes;
using test::with_crc;

namespace {

using Found = Scan::Found;

constexpr AddressRange two_registers{3, ModbusTable::holding, 0x0102, 2};
constexpr std::uint16_t transaction = 0x0708;

FrameBytes operator+(FrameBytes left, const FrameBytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

FrameBytes values_of(const Scan& scan) {
    return {scan.answer.values.begin(), scan.answer.values.end()};
}

const FrameBytes tcp_answer{7, 8, 0, 0, 0, 7, 3, 3, 4, 0xA, 0xB, 0xC, 0xD};
const FrameBytes rtu_answer = with_crc({3, 3, 4, 0xA, 0xB, 0xC, 0xD});

}  // namespace

TEST_CASE("requests match the specification", "[device][modbus]") {
    const auto tcp = tcp_request(two_registers, transaction);
    CHECK(FrameBytes(tcp.begin(), tcp.end()) == FrameBytes{7, 8, 0, 0, 0, 6, 3, 3, 1, 2, 0, 2});
    const auto rtu = request_bytes({1, ModbusTable::holding, 0, 10});
    CHECK(with_crc({rtu.begin(), rtu.end()}) == FrameBytes{1, 3, 0, 0, 0, 10, 0xC5, 0xCD});
    CHECK(function_of(ModbusTable::coil) == 1);
    CHECK(function_of(ModbusTable::discrete) == 2);
    CHECK(function_of(ModbusTable::input) == 4);
}

TEST_CASE("a TCP response is complete with its last byte", "[device][modbus]") {
    for (std::size_t bytes = 0; bytes < tcp_answer.size(); ++bytes) {
        CHECK(scan_tcp(std::span(tcp_answer).first(bytes), two_registers, transaction).found == Found::need_more);
    }
    const FrameBytes with_more = tcp_answer + FrameBytes{9, 9};
    const Scan scan = scan_tcp(with_more, two_registers, transaction);
    CHECK(scan.found == Found::answer);
    CHECK(scan.bytes == tcp_answer.size());
    CHECK(scan.answer.exception == 0);
    CHECK(values_of(scan) == FrameBytes{0xA, 0xB, 0xC, 0xD});
}

TEST_CASE("a late TCP response is recognized by its transaction number", "[device][modbus]") {
    const Scan scan = scan_tcp(tcp_answer, two_registers, transaction + 1);
    CHECK(scan.found == Found::other);
    CHECK(scan.bytes == tcp_answer.size());
}

TEST_CASE("a TCP response from a different unit is a mismatch, unless any unit may respond", "[device][modbus]") {
    FrameBytes of_another = tcp_answer;
    of_another[6] = 4;
    CHECK(scan_tcp(of_another, two_registers, transaction).found == Found::mismatch);
    CHECK(scan_tcp(of_another, two_registers, transaction).bytes == tcp_answer.size());
    CHECK(scan_tcp(of_another, two_registers, transaction, AnsweringUnit::any).found == Found::answer);
}

TEST_CASE("a TCP exception has its code", "[device][modbus]") {
    const FrameBytes bytes{7, 8, 0, 0, 0, 3, 3, 0x83, 2};
    const Scan scan = scan_tcp(bytes, two_registers, transaction);
    CHECK(scan.found == Found::answer);
    CHECK(scan.answer.exception == 2);
    CHECK(exception_text(2) == "illegal data address");
    CHECK(exception_text(99) == "unknown");
}

TEST_CASE("a TCP response to another request is a mismatch", "[device][modbus]") {
    const FrameBytes bytes = GENERATE(FrameBytes{7, 8, 0, 0, 0, 7, 3, 4, 4, 1, 2, 3, 4},  // another function
                                      FrameBytes{7, 8, 0, 0, 0, 5, 3, 3, 2, 1, 2},        // fewer registers
                                      FrameBytes{7, 8, 0, 0, 0, 7, 3, 3, 2, 1, 2, 3, 4},  // a wrong length
                                      FrameBytes{7, 8, 0, 0, 0, 3, 3, 0x83, 0});          // exception code 0
    const Scan scan = scan_tcp(bytes, two_registers, transaction);
    CHECK(scan.found == Found::mismatch);
    CHECK(scan.bytes == bytes.size());
}

TEST_CASE("TCP data that is not Modbus is recognized by its header", "[device][modbus]") {
    const FrameBytes bytes = GENERATE(FrameBytes{'H', 'T', 'T', 'P', '/', '1'}, FrameBytes{7, 8, 0, 0, 0, 2},
                                      FrameBytes{7, 8, 0, 0, 0, 255}, FrameBytes{7, 8, 0, 1, 0, 7});
    CHECK(scan_tcp(bytes, two_registers, transaction).found == Found::violation);
}

TEST_CASE("an RTU response is complete with its last byte", "[device][modbus]") {
    for (std::size_t bytes = 0; bytes < rtu_answer.size(); ++bytes) {
        CHECK(scan_rtu(std::span(rtu_answer).first(bytes), two_registers).found == Found::need_more);
    }
    const Scan scan = scan_rtu(rtu_answer, two_registers);
    CHECK(scan.found == Found::answer);
    CHECK(values_of(scan) == FrameBytes{0xA, 0xB, 0xC, 0xD});
}

TEST_CASE("other bytes may precede an RTU response", "[device][modbus]") {
    const FrameBytes before =
        GENERATE(FrameBytes{0, 0xFF, 3}, FrameBytes{3, 3, 4}, with_crc({3, 3, 1, 2, 0, 2}),
                 with_crc({4, 3, 4, 1, 1, 1, 1}), with_crc({3, 3, 2, 1, 1}), FrameBytes{3, 0x83, 2, 0, 0});
    const FrameBytes bytes = before + rtu_answer;
    const Scan scan = scan_rtu(bytes, two_registers);
    CHECK(scan.found == Found::answer);
    CHECK(scan.bytes == bytes.size());
    CHECK(values_of(scan) == FrameBytes{0xA, 0xB, 0xC, 0xD});
}

TEST_CASE("an RTU response with a wrong checksum is skipped", "[device][modbus]") {
    for (std::size_t at = 0; at < rtu_answer.size(); ++at) {
        FrameBytes bytes = rtu_answer;
        bytes[at] ^= 0x10U;
        CAPTURE(at);
        CHECK(scan_rtu(bytes, two_registers).found == Found::need_more);
    }
}

TEST_CASE("an RTU exception has its code", "[device][modbus]") {
    const FrameBytes bytes = with_crc({3, 0x83, 11});
    const Scan scan = scan_rtu(bytes, two_registers);
    CHECK(scan.found == Found::answer);
    CHECK(scan.answer.exception == 11);
}

TEST_CASE("bits are packed in whole bytes", "[device][modbus]") {
    const AddressRange nine_coils{1, ModbusTable::coil, 0, 9};
    CHECK(value_bytes_of(nine_coils) == 2);
    const FrameBytes bytes = with_crc({1, 1, 2, 0xFF, 1});
    CHECK(values_of(scan_rtu(bytes, nine_coils)) == FrameBytes{0xFF, 1});
}
