#pragma once

#include "config/setting_row.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Returns [name] or [name "NAME"].
[[nodiscard]] std::string heading(const SectionRow& row);

/// Returns "; did you mean this?" or "; must be one of a, b, c".
[[nodiscard]] std::string did_you_mean(std::string_view text, const std::vector<std::string_view>& names);

/// Like did_you_mean(), for the name of a section.
[[nodiscard]] std::string section_advice(std::string_view kind);

/// Returns the row for a key of a section; nullptr if the key does not belong there. If `type` is "" (unknown), the
/// keys of all types belong there, except those for which is_undecided() is true.
[[nodiscard]] const SettingRow* row_for(std::string_view section, std::string_view type, std::string_view key);

/// Returns whether several types have the key and the type is unknown.
[[nodiscard]] bool is_undecided(std::string_view section, std::string_view type, std::string_view key);

/// A key in a section where it does not belong.
struct MisplacedKey {
    std::string_view section;
    std::string_view type;
    std::string_view key;
    std::string title;  // of the section, for messages
};
/// Returns why the key does not belong there, and what does.
[[nodiscard]] std::string misplaced_text(const MisplacedKey& found);

}  // namespace telegate
