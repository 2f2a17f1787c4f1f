#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace telegate::modbus {

struct TcpPlace {
    std::string host;  // numeric or a name; IPv6 without its brackets
    std::string port;
};
struct RtuPlace {
    std::string path;
};
using Place = std::variant<TcpPlace, RtuPlace>;

/// `tcp://HOST`, `tcp://HOST:PORT`, `tcp://[IPV6]:PORT` or `rtu:///PATH`. Throws std::invalid_argument on anything
/// else.
[[nodiscard]] Place parse_place(std::string_view endpoint);

}  // namespace telegate::modbus
