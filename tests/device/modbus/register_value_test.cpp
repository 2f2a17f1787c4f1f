#include "modbus/frames.hpp"
#include "support/catch.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <variant>
#include <vector>

using namespace telegate;
using namespace telegate::modbus;

namespace {

template <class T>
T decoded(std::vector<std::uint8_t> bytes, const ValueFormat& format) {
    const RegisterValue value = decode_registers(bytes, format);
    REQUIRE(std::holds_alternative<T>(value.value));
    return std::get<T>(value.value);
}

}  // namespace

TEST_CASE("whole numbers of every width keep their sign", "[device][modbus]") {
    CHECK(decoded<std::int64_t>({0xFF, 0xFE}, {ModbusType::int16}) == -2);
    CHECK(decoded<std::int64_t>({0xFF, 0xFE}, {ModbusType::uint16}) == 65'534);
    CHECK(decoded<std::int64_t>({0x80, 0, 0, 1}, {ModbusType::int32}) == -2'147'483'647);
    CHECK(decoded<std::int64_t>({0x80, 0, 0, 1}, {ModbusType::uint32}) == 2'147'483'649);
    CHECK(decoded<std::int64_t>({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFD}, {ModbusType::int64}) == -3);
    CHECK(decoded<std::int64_t>({0, 0x20, 0, 0, 0, 0, 0, 1}, {ModbusType::uint64}) == 9'007'199'254'740'993);
    CHECK(decoded<std::int64_t>({0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, {ModbusType::uint64}) == INT64_MAX);
}

TEST_CASE("a uint64 above the int64 maximum becomes a real number that is not exact", "[device][modbus]") {
    const std::array<std::uint8_t, 8> bytes{0x80, 0, 0, 0, 0, 0, 0, 1};
    const RegisterValue value = decode_registers(bytes, {ModbusType::uint64});
    CHECK(std::get<double>(value.value) == 0x1p63);
    CHECK_FALSE(value.exact);
}

TEST_CASE("real numbers are IEEE 754", "[device][modbus]") {
    CHECK(decoded<double>({0x41, 0x48, 0, 0}, {ModbusType::float32}) == 12.5);
    CHECK(decoded<double>({0x41, 0x39, 0x99, 0x9A}, {ModbusType::float32}) == 11.6);  // the nearest float to it
    CHECK(decoded<double>({0xC0, 0x29, 0, 0, 0, 0, 0, 0}, {ModbusType::float64}) == -12.5);
    CHECK(std::isnan(decoded<double>({0x7F, 0xC0, 0, 0}, {ModbusType::float32})));
}

TEST_CASE("words and bytes may have any of four orders", "[device][modbus]") {
    const auto [bytes, low_word_first, byte_swap] = GENERATE(table<std::vector<std::uint8_t>, bool, bool>({
        {{0x12, 0x34, 0x56, 0x78}, false, false},
        {{0x56, 0x78, 0x12, 0x34}, true, false},
        {{0x34, 0x12, 0x78, 0x56}, false, true},
        {{0x78, 0x56, 0x34, 0x12}, true, true},
    }));
    CHECK(decoded<std::int64_t>(bytes, {ModbusType::uint32, low_word_first, byte_swap}) == 0x12345678);
}

TEST_CASE("the lowest of four words can come first", "[device][modbus]") {
    CHECK(decoded<std::int64_t>({7, 8, 5, 6, 3, 4, 1, 2}, {ModbusType::int64, true}) == 0x0102030405060708);
    CHECK(decoded<double>({0, 0, 0, 0, 0, 0, 0xC0, 0x29}, {ModbusType::float64, true}) == -12.5);
}

TEST_CASE("a bit of a register is a boolean, and so is a register that is not zero", "[device][modbus]") {
    CHECK(decoded<bool>({0x80, 0x01}, {ModbusType::boolean, false, false, 15U}));
    CHECK_FALSE(decoded<bool>({0x80, 0x01}, {ModbusType::boolean, false, false, 14U}));
    CHECK(decoded<bool>({0x80, 0x01}, {ModbusType::boolean, false, true, 7U}));
    CHECK(decoded<bool>({0x80, 0x01}, {ModbusType::boolean, false, false, 0U}));
    CHECK(decoded<bool>({0x80, 0x00}, {ModbusType::boolean}));
    CHECK_FALSE(decoded<bool>({0, 0}, {ModbusType::boolean}));
}

TEST_CASE("packed bits begin with the lowest of the first byte", "[device][modbus]") {
    const std::array<std::uint8_t, 2> bits{0b0000'0101, 0b1000'0000};
    CHECK(decode_bit(bits, 0));
    CHECK_FALSE(decode_bit(bits, 1));
    CHECK(decode_bit(bits, 2));
    CHECK_FALSE(decode_bit(bits, 8));
    CHECK(decode_bit(bits, 15));
}
