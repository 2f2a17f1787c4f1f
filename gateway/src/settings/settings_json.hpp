#pragma once

#include "config/load.hpp"
#include "config/settings_sources.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate {

/// Larger documents are refused, like larger files.
inline constexpr std::size_t settings_json_bytes_max = 1024 * 1024;

/// The settings as a JSON document: {"gateway":{...},...,"device":{"NAME":{...}}}, of channels what is not the default.
/// Numbers are in the unit of their key; what is not set and has no value of its own is left out.
[[nodiscard]] std::string settings_json(const Settings& settings);

/// The settings that such a document says; what it leaves out has its default. Throws SettingsError with every problem
/// at once, its key a JSON pointer such as "/device/boiler/interval_ms".
[[nodiscard]] LoadedSettings settings_from_json(std::string_view text);

/// The settings that `base` becomes by a JSON merge patch (RFC 7396) of that form: a member replaces, null removes, so
/// that the default holds. Throws as settings_from_json().
[[nodiscard]] LoadedSettings settings_from_patch(const Settings& base, std::string_view patch);

/// The JSON Schema (2020-12) of these documents, from the settings table.
[[nodiscard]] std::string settings_schema_json();

/// The same for settings that mean the same, whatever the order of their sections; 16 hexadecimal digits. It tells
/// versions apart and proves nothing to those who mean harm.
[[nodiscard]] std::string settings_hash(const Settings& settings);

}  // namespace telegate
