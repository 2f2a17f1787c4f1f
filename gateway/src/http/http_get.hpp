#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace telegate {

/// Requests `target` from an HTTP server of this machine, and returns the response with its head: at a path of a Unix
/// socket, or at a numeric address or "localhost". An unspecified address, such as 0.0.0.0, stands for the loopback
/// address.
///
/// Threads: any.
/// Limits: 64 KiB of the response, and two seconds.
/// Failure: std::runtime_error with the reason.
[[nodiscard]] std::string http_get(const std::string& unix_socket, std::string_view target);
[[nodiscard]] std::string http_get(const std::string& host, std::uint16_t port, std::string_view target);

}  // namespace telegate
