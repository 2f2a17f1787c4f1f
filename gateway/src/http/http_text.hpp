#pragma once

#include <string>
#include <string_view>

namespace telegate {

/// Removes the surrounding spaces and tabs, which HTTP allows around each part of a field. Threads: any.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// Returns whether two names are equal, ignoring the case of ASCII letters. Threads: any.
[[nodiscard]] bool same_name(std::string_view one, std::string_view other) noexcept;

/// Decodes percent-encoding; invalid escapes stay as they are. In a query, a plus sign becomes a space. Threads: any.
[[nodiscard]] std::string percent_decoded(std::string_view text, bool is_query);

}  // namespace telegate
