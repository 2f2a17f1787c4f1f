#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::perf {

/// Keys and the values that they get instead of their own, wherever they stand.
using SettingChanges = std::vector<std::pair<std::string, std::string>>;

/// The text of a settings file, changed so that it disturbs nobody: TCP ports are any free ones on the loopback, and
/// the files of ipc endpoints are in `folder`. A change whose key the text does not have goes before its first line.
/// Threads: any. Limits: none. Failure: none; what is wrong in the text stays wrong.
[[nodiscard]] std::string scratch_settings(std::string_view text, const SettingChanges& changes,
                                           const std::string& folder);

}  // namespace telegate::perf
