#pragma once

#include <string_view>

namespace telegate::tail {

/// The decoder calls itself for each list within a list, so a payload of nothing else would take all of a small stack.
inline constexpr int cbor_depth_max = 16;  // messages have one map, with no list in it

/// Whether it is CBOR that nests no deeper. Threads: any.
[[nodiscard]] bool is_shallow_cbor(std::string_view payload);

}  // namespace telegate::tail
