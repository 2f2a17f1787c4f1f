#pragma once

#include <string>
#include <string_view>

namespace telegate {

/// Returns whether `host`, a numeric address or "localhost", reaches this machine only.
[[nodiscard]] bool is_loopback(const std::string& host);

/// Returns whether `host` ("HOST" or "HOST:PORT") is localhost or a numeric address, so no DNS name is involved.
[[nodiscard]] bool is_local_name(std::string_view host);

}  // namespace telegate
