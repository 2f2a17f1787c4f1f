#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

inline constexpr std::size_t ini_text_bytes_max = 1024 * 1024;
/// A line together with those that continue it.
inline constexpr std::size_t ini_line_bytes_max = 4096;

/// Whether `text` is text of a size that is worth reading. Otherwise reports a problem.
[[nodiscard]] bool is_settings_text(std::string_view text, const std::string& file, ProblemList& problems);

/// Takes an INI text apart, in the manner of systemd: comments are lines that begin with # or ;, a backslash at the
/// end of a line joins the next one with a space, values reach to the end of the line and quotes in them are plain
/// characters. Tolerates CRLF and a byte order mark. What a key or a value means is not looked at.
/// Limits:  ini_text_bytes_max in all, ini_line_bytes_max per line.
/// Failure: what cannot be read goes to `problems` and is left out. Entries below an unreadable section are dropped,
///          so that one mistake is one problem. nullopt when nothing can be read. `file` only names places.
[[nodiscard]] std::optional<std::vector<GivenSection>> read_ini(std::string_view text, const std::string& file,
                                                                ProblemList& problems);

}  // namespace telegate
