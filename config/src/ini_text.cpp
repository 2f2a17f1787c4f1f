#include "ini_text.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

constexpr std::string_view blanks = " \t\r\f\v";

bool is_comment(std::string_view line) noexcept {
    const std::string_view text = trimmed(line, blanks);
    return !text.empty() && (text.front() == '#' || text.front() == ';');
}

/// Splits a text into lines and joins continued lines.
class LineReader {
  public:
    LineReader(std::string_view text, const std::string& file, ProblemList& problems)
        : rest_(text), file_(file), problems_(problems) {}

    /// Returns the next line that is not blank, trimmed and valid until the next call; nullopt at the end.
    std::optional<std::string_view> next() {
        while (!rest_.empty()) {
            joined_.clear();
            if (join() && !trimmed(joined_, blanks).empty()) {
                return trimmed(joined_, blanks);
            }
        }
        return std::nullopt;
    }

    /// Returns the number of the first line of the text that next() returned.
    [[nodiscard]] std::size_t line() const noexcept { return first_line_; }

  private:
    std::string_view take_line() noexcept {
        ++last_line_;
        const std::size_t end = rest_.find('\n');
        std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        if (!line.empty() && line.back() == '\r') {
            line.remove_suffix(1);
        }
        return line;
    }

    /// Reads one line and its continuation lines into joined_; comments between them are skipped. Returns false if the
    /// result is too long.
    bool join() {
        first_line_ = last_line_ + 1;
        std::size_t size = 0;
        bool continues = true;
        while (continues && !rest_.empty()) {
            const std::string_view line = take_line();
            if (is_comment(line) && line.size() <= ini_line_bytes_max) {
                continues = size > 0;
                continue;
            }
            continues = !line.empty() && line.back() == '\\';
            size += line.size();
            append(continues ? line.substr(0, line.size() - 1) : line, size);
            joined_ += continues ? " " : "";
        }
        if (continues) {
            problems_.add({file_, last_line_}, "",
                          "the last line ends with a backslash: there is no next line to join");
        }
        if (size > ini_line_bytes_max) {
            problems_.add({file_, first_line_}, "",
                          "line too long: " + std::to_string(size) + " bytes; must be at most " +
                              std::to_string(ini_line_bytes_max) + ", including its continuation lines");
        }
        return size <= ini_line_bytes_max;
    }

    void append(std::string_view text, std::size_t size) {
        if (size <= ini_line_bytes_max) {
            joined_ += text;
        }
    }

    std::string_view rest_;
    const std::string& file_;
    ProblemList& problems_;
    std::string joined_;
    std::size_t first_line_ = 0;
    std::size_t last_line_ = 0;
};

/// Parses a section header; `line` begins with a bracket. Returns nullopt if it is not a section header.
std::optional<GivenSection> parse_header(std::string_view line) {
    if (line.back() != ']') {
        return std::nullopt;
    }
    const std::string_view inner = trimmed(line.substr(1, line.size() - 2), blanks);
    const std::size_t quote = inner.find('"');
    const std::string_view kind = trimmed(inner.substr(0, quote), blanks);
    if (kind.empty() || kind.find_first_of(" \t[]") != std::string_view::npos) {
        return std::nullopt;
    }
    GivenSection section;
    section.kind = kind;
    if (quote != std::string_view::npos) {
        const std::string_view name = inner.substr(quote + 1);
        if (name.empty() || name.find('"') != name.size() - 1) {
            return std::nullopt;
        }
        section.name = name.substr(0, name.size() - 1);
    }
    return section;
}

/// Returns nullopt if `line` is not "key = value".
std::optional<GivenEntry> parse_entry(std::string_view line) {
    const std::size_t equals = line.find('=');
    const std::string_view key = trimmed(line.substr(0, equals), blanks);
    if (equals == std::string_view::npos || key.empty()) {
        return std::nullopt;
    }
    return GivenEntry{.shown = printable(key),
                      .key = std::string(key),
                      .value = std::string(trimmed(line.substr(equals + 1), blanks))};
}

}  // namespace

bool is_settings_text(std::string_view text, const std::string& file, ProblemList& problems) {
    if (text.size() > ini_text_bytes_max) {
        problems.add({file, 0}, "", "file too large; must be at most " + std::to_string(ini_text_bytes_max) + " bytes");
        return false;
    }
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
        const auto newlines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
        problems.add({file, static_cast<std::size_t>(newlines) + 1}, "",
                     "zero byte found: not a text file; must be UTF-8 text");
        return false;
    }
    bool is_text = true;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (std::string fault = text_fault(text.substr(0, end)); !fault.empty()) {
            problems.add({file, line}, "", std::move(fault));
            is_text = false;
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return is_text;
}

std::string GivenSection::title() const {
    if (!written.empty()) {
        return written;
    }
    if (kind.empty()) {
        return "the lines before the first section";
    }
    return "[" + printable(kind) + (name ? " " + quoted_value(*name) : "") + "]";
}

std::optional<std::vector<GivenSection>> read_ini(std::string_view text, const std::string& file,
                                                  ProblemList& problems) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (!is_settings_text(text, file, problems)) {
        return std::nullopt;
    }
    std::vector<GivenSection> sections(1);
    sections.front().place.name = file;
    text.remove_prefix(text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
    LineReader lines(text, file, problems);
    bool readable = true;  // false after an invalid section header
    while (const std::optional<std::string_view> line = lines.next()) {
        const SettingsPlace place{file, lines.line()};
        if (line->front() == '[') {
            std::optional<GivenSection> section = parse_header(*line);
            readable = section.has_value();
            if (readable) {
                section->place = place;
                sections.push_back(std::move(*section));
            } else {
                problems.add(
                    place, "",
                    "not a section header: " + quoted_value(*line) + R"(; must be [section] or [section "NAME"])");
            }
        } else if (std::optional<GivenEntry> entry = parse_entry(*line); !entry) {
            problems.add(place, "", "not a setting: " + quoted_value(*line) + "; must be key = value");
        } else if (readable) {
            entry->place = place;
            sections.back().entries.push_back(std::move(*entry));
        }
    }
    return sections;
}

}  // namespace telegate
