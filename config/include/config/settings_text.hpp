#pragma once

#include "config/settings_sources.hpp"

#include <string>

namespace telegate {

/// Every value that holds, a line each, with where it was given: "queue.policy = block  gateway.ini:24", in columns. A
/// value in round brackets is the setting that stands in for one that is not given.
[[nodiscard]] std::string effective_text(const LoadedSettings& loaded);

/// A settings file with every key, its meaning and what is allowed above it where it first stands. It loads back to
/// `settings`.
[[nodiscard]] std::string sample_ini(const Settings& settings);

}  // namespace telegate
