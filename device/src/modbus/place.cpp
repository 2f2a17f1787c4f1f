#include "modbus/place.hpp"
#include "device/option_error.hpp"

#include <utility>

namespace telegate::modbus {
namespace {

constexpr std::string_view tcp_prefix = "tcp://";
constexpr std::string_view rtu_prefix = "rtu://";
constexpr std::string_view default_port = "502";

}  // namespace

Place parse_place(std::string_view endpoint) {
    if (endpoint.starts_with(tcp_prefix)) {
        if (auto place = network::parse_host_port(endpoint.substr(tcp_prefix.size()), default_port)) {
            return *std::move(place);
        }
    }
    const std::string_view path = endpoint.starts_with(rtu_prefix) ? endpoint.substr(rtu_prefix.size()) : "";
    if (path.size() > 1 && path.front() == '/' && path.find('\0') == std::string_view::npos) {
        return RtuPlace{std::string(path)};
    }
    throw OptionError("endpoint",
                      "invalid endpoint: \"" + std::string(endpoint) +
                          "\"; must be tcp://HOST:PORT or rtu:///PATH, such as rtu:///dev/serial/by-id/...");
}

}  // namespace telegate::modbus
