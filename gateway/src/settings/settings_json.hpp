#pragma once

#include "config/load.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Larger documents are refused, like larger files.
inline constexpr std::size_t settings_json_bytes_max = 1024 * 1024;

/// Return the settings as a JSON document: {"gateway":{...},...,"device":{"NAME":{...}}}. Of channels it contains only
/// values that differ from the default. Numbers are in the unit of their key; unset values without a default are
/// omitted.
[[nodiscard]] std::string settings_json(const Settings& settings);
[[nodiscard]] nlohmann::ordered_json settings_document(const Settings& settings);

/// Like settings_json(), with *** instead of secrets (config/hidden_secrets.hpp).
[[nodiscard]] std::string shown_settings_json(const Settings& settings);

/// Returns the origins of these values in the same form, each as a text: "default", "FILE:LINE", "env TELEGATE_X",
/// "--set", or "changed at run time" for a value that `sources` do not have.
[[nodiscard]] std::string settings_origins_json(const Settings& settings, const Settings& sources);

/// Parses such a document; omitted settings have their defaults. Throws SettingsError with all problems, whose keys are
/// JSON pointers such as "/device/boiler/interval_ms".
[[nodiscard]] Settings settings_from_json(std::string_view text);

/// Applies a JSON merge patch (RFC 7396) of the same form to `base`: a member replaces a setting, null restores its
/// default. Throws as settings_from_json().
[[nodiscard]] Settings settings_from_patch(const Settings& base, std::string_view patch);

/// Returns the problems of settings that came from such a document: the key of each problem without a place is the JSON
/// pointer of its setting.
[[nodiscard]] std::vector<SettingsProblem> with_json_pointers(std::vector<SettingsProblem> problems);

/// Return the JSON Schema (2020-12) of these documents, generated from the settings table. Only the text has a title
/// and names its version: clients generated from /openapi.json would be named after the title.
[[nodiscard]] nlohmann::ordered_json settings_schema();
[[nodiscard]] std::string settings_schema_json();

/// Returns a hash of 16 hexadecimal digits that is the same for equal settings, whatever the order of their sections.
/// It distinguishes versions but is not secure against manipulation.
[[nodiscard]] std::string settings_hash(const Settings& settings);

}  // namespace telegate
