#pragma once

#include <string>
#include <string_view>

namespace telegate {

/// Whether a numeric address, or "localhost", reaches this machine only.
[[nodiscard]] bool is_loopback(const std::string& host);

/// Whether "HOST" or "HOST:PORT" is localhost or a numeric address, so that no name service had a say in it.
[[nodiscard]] bool is_local_name(std::string_view host);

}  // namespace telegate
