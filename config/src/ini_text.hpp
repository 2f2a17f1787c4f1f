#pragma once

#include "problem_list.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

struct IniEntry {
    std::size_t line = 0;
    std::string key;
    std::string value;
};

/// A [kind] or [kind "name"] with what follows it. The first one of a text has no kind: it is what stands before any
/// section.
struct IniSection {
    std::size_t line = 0;
    std::string kind;
    std::optional<std::string> name;
    std::vector<IniEntry> entries;

    [[nodiscard]] std::string title() const;
};

inline constexpr std::size_t ini_text_bytes_max = 1024 * 1024;
/// A line together with those that continue it.
inline constexpr std::size_t ini_line_bytes_max = 4096;

/// Takes an INI text apart, in the manner of systemd: comments are lines that begin with # or ;, a backslash at the
/// end of a line joins the next one with a space, values reach to the end of the line and quotes in them are plain
/// characters. Tolerates CRLF and a byte order mark. What a key or a value means is not looked at.
/// Limits:  ini_text_bytes_max in all, ini_line_bytes_max per line.
/// Failure: what cannot be read goes to `problems` and is left out. Entries below an unreadable section are dropped,
///          so that one mistake is one problem.
[[nodiscard]] std::vector<IniSection> read_ini(std::string_view text, ProblemList& problems);

}  // namespace telegate
