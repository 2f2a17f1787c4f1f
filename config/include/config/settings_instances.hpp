#pragma once

#include "config/setting_row.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// One section of a Settings value.
struct SectionInstance {
    std::string name;         // "" where there is one such section only
    std::string_view driver;  // of the device, or of the device of the channel; "" where there is none
    SettingOwner owner;
};

/// All sections of this kind, in their order; of a kind without names, the one that there is. They are of use as long
/// as no section comes or goes and no device gets another driver.
[[nodiscard]] std::vector<SectionInstance> instances_of(Settings& settings, std::string_view section);

/// Puts another one behind them; of a kind without names, there is one already.
[[nodiscard]] SettingOwner add_instance(Settings& settings, std::string_view section, const std::string& name);

/// What a section may be named, in words.
[[nodiscard]] std::string allowed_name(const SectionRow& section);
/// The same as a regular expression.
[[nodiscard]] std::string name_pattern(const SectionRow& section);
[[nodiscard]] bool is_name_allowed(const SectionRow& section, std::string_view name) noexcept;

}  // namespace telegate
