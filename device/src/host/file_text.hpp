#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace telegate::host {

/// What the file holds now, up to the size of `buffer`; for files that are read once, where ProcFile keeps its own
/// open. Nothing but a regular file is opened, as those of procfs and sysfs are. Nullopt when it cannot be read.
[[nodiscard]] std::optional<std::string_view> file_text(const char* path, std::span<char> buffer) noexcept;

/// Whether `path` names a regular file, or a link to one.
[[nodiscard]] bool is_regular_file(const char* path) noexcept;

}  // namespace telegate::host
