#pragma once

#include "network/host_port.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace telegate::modbus {

using TcpPlace = network::HostPort;
struct RtuPlace {
    std::string path;
};
using Place = std::variant<TcpPlace, RtuPlace>;

/// Parses `tcp://HOST`, `tcp://HOST:PORT`, `tcp://[IPV6]:PORT` or `rtu:///PATH`. Throws std::invalid_argument for any
/// other text.
[[nodiscard]] Place parse_place(std::string_view endpoint);

}  // namespace telegate::modbus
