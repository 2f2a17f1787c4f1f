#pragma once

#include <string>
#include <string_view>

namespace telegate {

/// Decodes percent-encoding; invalid escapes stay as they are. In a query, a plus sign becomes a space. Threads: any.
[[nodiscard]] std::string percent_decoded(std::string_view text, bool is_query);

}  // namespace telegate
