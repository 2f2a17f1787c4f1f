#pragma once

#include "config/settings.hpp"

#include <string>

namespace telegate {

/// Returns all effective values, one per line, with their source: "queue.policy = block  gateway.ini:24", in columns.
/// For a setting without a value of its own, the setting or text that applies instead is shown in parentheses.
[[nodiscard]] std::string effective_text(const Settings& settings);

/// Returns a settings file with every key. The first occurrence of a key has a comment with its meaning and what is
/// allowed. The file loads back to `settings`.
[[nodiscard]] std::string sample_ini(const Settings& settings);

}  // namespace telegate
