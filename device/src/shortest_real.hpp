#pragma once

namespace telegate {

/// Returns the double with the shortest decimal text that still converts to `value` as a 32-bit float: 11.6, where a
/// plain conversion gives 11.600000381469727. NaN and infinity are unchanged. Threads: any. Limits: no allocation.
/// Failure: none.
[[nodiscard]] double shortest_real(float value) noexcept;

}  // namespace telegate
