#include "device/http_driver.hpp"

#include <stdexcept>

// In place of all else in this folder where the gateway is built without cpp-httplib.
namespace telegate {

std::unique_ptr<Driver> make_http_driver(HttpDriverOptions /*options*/) {
    throw std::runtime_error("this build has no driver http");
}

}  // namespace telegate
