#pragma once

#include "config/setting_row.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// [name] or [name "NAME"].
[[nodiscard]] std::string heading(const SectionRow& row);

/// ", did you mean this?" or ", allowed: a, b, c".
[[nodiscard]] std::string did_you_mean(std::string_view text, const std::vector<std::string_view>& names);

/// The same for the name of a section.
[[nodiscard]] std::string section_advice(std::string_view kind);

/// The row for a key of a section; nullptr when the key has no place there. `driver` is "" when it is not known: then
/// the keys of every driver have one, but for those that is_undecided() tells.
[[nodiscard]] const SettingRow* row_for(std::string_view section, std::string_view driver, std::string_view key);

/// Whether the key is one of several drivers, and it is not known which of them.
[[nodiscard]] bool is_undecided(std::string_view section, std::string_view driver, std::string_view key);

/// A key, and where it was found.
struct MisplacedKey {
    std::string_view section;
    std::string_view driver;
    std::string_view key;
    std::string title;  // of the section, for messages
};
/// Why the key has no place there, and what has.
[[nodiscard]] std::string misplaced_text(const MisplacedKey& found);

}  // namespace telegate
