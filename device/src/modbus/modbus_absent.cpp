#include "modbus/modbus_driver.hpp"

#include <stdexcept>

// Replaces all other files of this directory if the gateway is built without libmodbus.
namespace telegate {

std::unique_ptr<Driver> make_modbus_driver(ModbusDriverOptions /*options*/) {
    throw std::runtime_error("this build does not include the modbus driver");
}

}  // namespace telegate
