#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// Returns the public key of the seed of a user's nkey, which begins with SU; nullopt: not such a seed. Threads: any.
/// Failure: throws std::bad_alloc.
[[nodiscard]] std::optional<std::string> nkey_public_key(std::string_view seed);

/// Returns the signature of a text by such a seed, in Base64 for URLs; nullopt: not such a seed. Threads: any. Failure:
/// throws std::bad_alloc.
[[nodiscard]] std::optional<std::string> nkey_signature(std::string_view seed, std::string_view text);

}  // namespace telegate::uplink
