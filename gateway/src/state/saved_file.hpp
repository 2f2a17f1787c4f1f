#pragma once

#include "base/whole_file.hpp"
#include "log/log.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

namespace telegate {

/// The maximum number of files PATH.broken, PATH.broken2 and so on. Beyond that the last one is replaced.
inline constexpr std::size_t broken_files_max = 8;

/// Renames an unusable file and logs it as `WHAT not used file=PATH reason=... renamed_to=...`. Threads: any. Failure:
/// a file that cannot be renamed stays; the log line then has no `renamed_to`.
void rename_broken(Log& log, std::string_view what, const std::string& path, std::string_view why);

/// Reads a file and parses it with `parse`, which returns an error text if the content is invalid. Returns nullopt if
/// there is no file, if `path` is "", or if the file cannot be used; such a file is renamed. Threads: any.
template <class Content>
[[nodiscard]] std::optional<Content> read_saved(Log& log, std::string_view what, const std::string& path,
                                                std::size_t bytes_max,
                                                std::variant<Content, std::string> (*parse)(std::string_view text)) {
    if (path.empty()) {
        return std::nullopt;
    }
    std::string why;
    try {
        auto result = parse(read_whole_file(path, bytes_max));
        if (auto* const content = std::get_if<Content>(&result)) {
            return std::move(*content);
        }
        why = std::get<std::string>(result);
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::no_such_file_or_directory) {
            return std::nullopt;
        }
        why = error.code().message();
    }
    rename_broken(log, what, path, why);
    return std::nullopt;
}

/// Replaces a file atomically. Returns whether it was written; if not, logs `cannot write WHAT file=PATH reason=...`.
/// Threads: any.
bool write_saved(Log& log, std::string_view what, const std::string& path, std::string_view text);

}  // namespace telegate
