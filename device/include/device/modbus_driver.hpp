#pragma once

#include "device/driver.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// The four tables of a Modbus unit: two of bits, two of 16-bit registers.
enum class ModbusTable : std::uint8_t { coil, discrete, holding, input };

/// How the registers of a channel are to be understood. Bits are always boolean.
enum class ModbusType : std::uint8_t { boolean, int16, uint16, int32, uint32, int64, uint64, float32, float64 };

enum class ModbusParity : std::uint8_t { none, even, odd };

struct ModbusChannel {
    std::string name = {};
    std::string unit = {};            // of the value, such as "kWh"
    std::optional<int> unit_id = {};  // nullopt: the device's
    ModbusTable table = ModbusTable::holding;
    int address = 0;                      // 0 to 65535, as it goes over the wire: register 40001 is holding 0
    std::optional<ModbusType> type = {};  // nullopt: boolean for bits and with `bit`, otherwise uint16
    bool low_word_first = false;          // of values of several registers
    bool byte_swap = false;               // the bytes within each register
    std::optional<int> bit = {};          // 0 (lowest) to 15: one bit of a register; nullopt: the whole
};

struct ModbusDriverOptions {
    std::string endpoint = {};  // tcp://HOST:PORT, where :502 may be left out, or rtu:///dev/...
    // Of RTU alone. RTU is a protocol of 8-bit bytes, so data_bits is 8.
    int baud = 9'600;
    ModbusParity parity = ModbusParity::none;
    int data_bits = 8;
    int stop_bits = 1;                   // 1 or 2
    std::chrono::milliseconds pause{0};  // between two requests, beside the 3.5 characters of the protocol; 0 to 1000
    int unit_id = 1;                     // of channels without one; 0 to 255, RTU 1 to 247
    std::chrono::milliseconds timeout{500};    // of connecting, and of each answer; 10 to 10000
    int read_gap_max = 8;                      // registers read for nothing to save a request; 0 to 124
    int registers_max = 125;                   // per request; 1 to 125
    std::vector<ModbusChannel> channels = {};  // 1 to channels_max, names unique

    /// More than any one bus can answer in a reasonable time.
    static constexpr std::size_t channels_max = 4'096;
};

/// Units behind a TCP connection or on a serial line, read by register. What it does when they do not answer is in
/// docs/drivers/modbus.md. Waits for its device: it has a thread of its own.
/// Throws std::invalid_argument on bad options; std::runtime_error in a build without libmodbus.
[[nodiscard]] std::unique_ptr<Driver> make_modbus_driver(ModbusDriverOptions options);

}  // namespace telegate
