#pragma once

namespace telegate {

/// The real number with the shortest decimal text that is nearest to `value` among the 32-bit floats: 11.6, where a
/// plain conversion gives 11.600000381469727. Converted back it is `value` again. NaN and infinities stay what they
/// are. Threads: any. Limits: no memory. Failure: none.
[[nodiscard]] double shortest_real(float value) noexcept;

}  // namespace telegate
