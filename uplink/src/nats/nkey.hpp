#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// Returns the public key of the seed of a user's nkey, which begins with SU; nullopt: not such a seed. Threads: any.
/// Failure: throws std::bad_alloc.
[[nodiscard]] std::optional<std::string> nkey_public_key(std::string_view seed);

}  // namespace telegate::uplink
