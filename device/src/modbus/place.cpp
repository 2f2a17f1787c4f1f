#include "modbus/place.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace telegate::modbus {
namespace {

constexpr std::string_view tcp_prefix = "tcp://";
constexpr std::string_view rtu_prefix = "rtu://";
constexpr std::string_view default_port = "502";
constexpr std::size_t host_bytes_max = 253;  // of a name in the DNS

bool is_port(std::string_view text) noexcept {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc{} && end == text.data() + text.size() && port != 0;
}

bool is_host(std::string_view text) noexcept {
    return !text.empty() && text.size() <= host_bytes_max &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%") ==
               std::string_view::npos;
}

std::optional<TcpPlace> parse_tcp(std::string_view text) {
    const bool bracketed = text.starts_with('[');
    const std::size_t host_end = bracketed ? text.find(']') : text.find(':');
    const std::string_view host = bracketed ? text.substr(1, host_end - 1) : text.substr(0, host_end);
    if (bracketed && host_end == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view rest = host_end == std::string_view::npos ? "" : text.substr(host_end + (bracketed ? 1 : 0));
    if (!is_host(host)) {
        return std::nullopt;
    }
    if (rest.empty()) {
        return TcpPlace{std::string(host), std::string(default_port)};
    }
    if (rest.front() != ':' || !is_port(rest.substr(1))) {
        return std::nullopt;
    }
    return TcpPlace{std::string(host), std::string(rest.substr(1))};
}

}  // namespace

Place parse_place(std::string_view endpoint) {
    if (endpoint.starts_with(tcp_prefix)) {
        if (auto place = parse_tcp(endpoint.substr(tcp_prefix.size()))) {
            return *std::move(place);
        }
    }
    const std::string_view path = endpoint.starts_with(rtu_prefix) ? endpoint.substr(rtu_prefix.size()) : "";
    if (path.size() > 1 && path.front() == '/' && path.find('\0') == std::string_view::npos) {
        return RtuPlace{std::string(path)};
    }
    throw std::invalid_argument("endpoint: \"" + std::string(endpoint) +
                                "\", allowed: tcp://HOST:PORT or rtu:///PATH, such as rtu:///dev/serial/by-id/...");
}

}  // namespace telegate::modbus
