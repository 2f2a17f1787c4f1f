#include "config/listen_address.hpp"

#include "core/text.hpp"

#include <arpa/inet.h>

#include <cstddef>
#include <utility>

namespace telegate {
namespace {

bool is_numeric_address(const std::string& host, int family) {
    in6_addr address{};  // large enough for either family
    return ::inet_pton(family, host.c_str(), &address) == 1;
}

}  // namespace

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    const std::optional<std::uint16_t> port = parse_number<std::uint16_t>(text.substr(colon + 1));
    std::string host(text.substr(0, colon));
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) {
        host = host.substr(1, host.size() - 2);
    }
    const bool known =
        bracketed ? is_numeric_address(host, AF_INET6) : host == "localhost" || is_numeric_address(host, AF_INET);
    if (!port || !known) {
        return std::nullopt;
    }
    return ListenAddress{std::move(host), *port};
}

std::string listen_address_text(const std::string& host, std::uint16_t port) {
    if (host.empty()) {
        return {};
    }
    const bool needs_brackets = host.find(':') != std::string::npos;
    return (needs_brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace telegate
