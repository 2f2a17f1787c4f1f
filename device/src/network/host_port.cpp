#include "network/host_port.hpp"

#include "core/text.hpp"

#include <cstddef>
#include <cstdint>

namespace telegate::network {
namespace {

constexpr std::size_t host_bytes_max = 253;  // of a DNS name

bool is_port(std::string_view text) noexcept {
    return parse_number<std::uint16_t>(text).value_or(0) != 0;
}

bool is_host(std::string_view text) noexcept {
    return !text.empty() && text.size() <= host_bytes_max &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%") ==
               std::string_view::npos;
}

}  // namespace

std::optional<HostPort> parse_host_port(std::string_view text, std::string_view default_port) {
    const bool bracketed = text.starts_with('[');
    const std::size_t host_end = bracketed ? text.find(']') : text.find(':');
    if (bracketed && host_end == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view host = bracketed ? text.substr(1, host_end - 1) : text.substr(0, host_end);
    const std::string_view rest = host_end == std::string_view::npos ? "" : text.substr(host_end + (bracketed ? 1 : 0));
    if (!is_host(host)) {
        return std::nullopt;
    }
    if (rest.empty()) {
        return HostPort{std::string(host), std::string(default_port)};
    }
    if (rest.front() != ':' || !is_port(rest.substr(1))) {
        return std::nullopt;
    }
    return HostPort{std::string(host), std::string(rest.substr(1))};
}

}  // namespace telegate::network
