#pragma once

#include <string_view>

namespace telegate::tail {

/// The decoder recurses for each nested array, so a payload of nested arrays would overflow a small stack.
inline constexpr int cbor_depth_max = 16;  // messages consist of one map without nested arrays

/// Returns whether the payload is CBOR that nests no deeper than cbor_depth_max. Threads: any.
[[nodiscard]] bool is_shallow_cbor(std::string_view payload);

}  // namespace telegate::tail
