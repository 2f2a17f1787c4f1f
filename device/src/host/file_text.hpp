#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace telegate::host {

/// Returns the current content of a file, up to the size of `buffer`. For files that are read once; ProcFile keeps its
/// file open. Opens only regular files, which includes those of procfs and sysfs. Returns nullopt if the file cannot be
/// read.
[[nodiscard]] std::optional<std::string_view> file_text(const char* path, std::span<char> buffer) noexcept;

/// Returns whether `path` is a regular file, or a link to one.
[[nodiscard]] bool is_regular_file(const char* path) noexcept;

}  // namespace telegate::host
