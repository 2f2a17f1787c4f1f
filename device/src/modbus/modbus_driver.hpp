#pragma once

#include "device/driver.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// The four tables of a Modbus unit: two of bits, two of 16-bit registers.
enum class ModbusTable : std::uint8_t { coil, discrete, holding, input };
/// Their names in settings and messages.
inline constexpr std::pair<std::string_view, ModbusTable> named_modbus_tables[] = {{"holding", ModbusTable::holding},
                                                                                   {"input", ModbusTable::input},
                                                                                   {"coil", ModbusTable::coil},
                                                                                   {"discrete", ModbusTable::discrete}};

/// The type of the registers of a channel. Bits are always boolean.
enum class ModbusType : std::uint8_t { boolean, int16, uint16, int32, uint32, int64, uint64, float32, float64 };

enum class ModbusParity : std::uint8_t { none, even, odd };

/// Also the settings of a channel; the device has its name and unit.
struct ModbusChannel {
    std::string name = {};
    std::string unit = {};            // of the value, such as "kWh"
    std::optional<int> unit_id = {};  // nullopt: that of the device
    ModbusTable table = ModbusTable::holding;
    int address = 0;                      // 0 to 65535, as sent on the wire: register 40001 is holding register 0
    std::optional<ModbusType> type = {};  // nullopt: boolean for bit tables and with `bit`, otherwise uint16
    bool low_word_first = false;          // for values of several registers
    bool byte_swap = false;               // swap the bytes within each register
    std::optional<int> bit = {};          // 0 (lowest) to 15: one bit of a register; nullopt: the whole register
};

/// Also the settings of a device with the driver modbus, which limit the values.
struct ModbusDriverOptions {
    std::string endpoint = {};  // tcp://HOST:PORT, where :502 is optional, or rtu:///dev/...
    // RTU only. RTU transmits 8-bit bytes, so data_bits is 8.
    int baud = 9'600;
    ModbusParity parity = ModbusParity::none;
    int data_bits = 8;
    int stop_bits = 1;
    // between two requests, in addition to the 3.5 characters of the protocol
    std::chrono::milliseconds pause{0};
    int unit_id = 1;                           // default for channels; 0 to 255, RTU 1 to 247
    std::chrono::milliseconds timeout{500};    // for connecting, and for each reply
    int read_gap_max = 8;                      // unused registers that may be read to save a request
    int registers_max = 125;                   // per request
    std::vector<ModbusChannel> channels = {};  // 1 to channels_max, with unique names

    /// More channels than one bus can read in a reasonable time.
    static constexpr std::size_t channels_max = 4'096;
};

/// Creates a driver that reads the registers of units on a TCP connection or a serial line. docs/drivers/modbus.md
/// describes what it does when they do not respond. It has its own thread. Throws std::invalid_argument for invalid
/// options, and std::runtime_error in a build without libmodbus.
[[nodiscard]] std::unique_ptr<Driver> make_modbus_driver(ModbusDriverOptions options);

}  // namespace telegate
