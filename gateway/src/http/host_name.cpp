#include "http/host_name.hpp"

#include "core/text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>

namespace telegate {
namespace {

bool is_number(const std::string& host, int family) {
    in6_addr address{};  // large enough for either family
    return ::inet_pton(family, host.c_str(), &address) == 1;
}

}  // namespace

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "::1" || (host.starts_with("127.") && is_number(host, AF_INET));
}

bool is_local_name(std::string_view host) {
    const bool bracketed = host.starts_with('[');
    const std::size_t end = bracketed ? host.find(']') : host.find(':');
    const std::string name(
        host.substr(bracketed ? 1 : 0, end == std::string_view::npos ? end : end - (bracketed ? 1 : 0)));
    std::string_view port = end == std::string_view::npos ? std::string_view() : host.substr(end + (bracketed ? 1 : 0));
    const bool right_end = port.empty() ? !bracketed || end != std::string_view::npos
                                        : port.front() == ':' && std::all_of(port.begin() + 1, port.end(), [](char c) {
                                              return c >= '0' && c <= '9';
                                          });
    return right_end &&
           (bracketed ? is_number(name, AF_INET6) : equal_ignoring_case(name, "localhost") || is_number(name, AF_INET));
}

}  // namespace telegate
