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
/// Maximum length of a line including its continuation lines.
inline constexpr std::size_t ini_line_bytes_max = 4096;

/// Returns whether `text` is text of an acceptable size. Reports a problem otherwise.
[[nodiscard]] bool is_settings_text(std::string_view text, const std::string& file, ProblemList& problems);

/// Parses INI text, following the rules of systemd: lines that begin with # or ; are comments, a backslash at the end
/// of a line joins the next line with a space, values extend to the end of the line, and quotes in values are ordinary
/// characters. CRLF and a byte order mark are accepted. Keys and values are not interpreted. Returns nullopt if nothing
/// can be read. `file` is only used in the places of problems.
/// Limits: ini_text_bytes_max in total, ini_line_bytes_max per line.
/// Failure: what cannot be parsed is reported to `problems` and omitted. Entries after an invalid section header are
/// dropped, so that one mistake is one problem.
[[nodiscard]] std::optional<std::vector<GivenSection>> read_ini(std::string_view text, const std::string& file,
                                                                ProblemList& problems);

}  // namespace telegate
