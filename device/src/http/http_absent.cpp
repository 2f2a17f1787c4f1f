#include "http/http_driver.hpp"

#include <stdexcept>

// Replaces all other files of this directory in builds without shared libraries.
namespace telegate {

std::unique_ptr<Driver> make_http_driver(HttpDriverOptions /*options*/) {
    throw std::runtime_error("this build does not include the http driver");
}

}  // namespace telegate
