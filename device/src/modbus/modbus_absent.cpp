#include "device/modbus_driver.hpp"

#include <stdexcept>

// In place of all else in this folder where the gateway is built without libmodbus.
namespace telegate {

std::unique_ptr<Driver> make_modbus_driver(ModbusDriverOptions /*options*/) {
    throw std::runtime_error("this build has no modbus");
}

}  // namespace telegate
