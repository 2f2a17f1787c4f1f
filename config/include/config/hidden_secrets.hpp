#pragma once

#include "config/setting_row.hpp"

#include <string>
#include <string_view>

namespace telegate {

// Settings as readers of REST, logs and messages see them: *** takes the place of the value of a secret, and of the
// user and the query of a URL. Threads: any. Limits, failure: none.

/// Returns whether values of the setting may hold secrets.
[[nodiscard]] bool may_hold_secrets(const SettingRow& row) noexcept;

/// Returns what is shown of a value of the setting, as written in a file. A list may be one of its elements.
[[nodiscard]] std::string shown_value(const SettingRow& row, std::string_view value);

/// Like value_text(), without secrets.
[[nodiscard]] std::string shown_text(const SettingRow& row, const SettingOwner& owner);

/// Returns a message about the value of a setting without its secrets.
[[nodiscard]] std::string shown_message(const SettingRow& row, const SettingOwner& owner, std::string message);

/// Replaces each value in `settings` that is what is shown of the value of the same setting in `known` with that value,
/// so a client can send back the settings that it was shown.
void restore_hidden(Settings& settings, const Settings& known);

}  // namespace telegate
