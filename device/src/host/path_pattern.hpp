#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::host {

/// A file that matches a pattern.
struct PatternMatch {
    std::string path;
    std::string stars;  // the text that the stars matched, joined by dots; "" for a path without stars
};

/// An absolute path in which each part may contain one '*', which matches any text within that part.
///
/// Threads: one at a time.
/// Limits: at most entries_max directory entries are checked.
/// Failure: the constructor throws std::invalid_argument. find() throws only std::bad_alloc, and ignores what it cannot
/// read.
class PathPattern {
  public:
    static constexpr std::size_t entries_max = 4'096;

    struct Found {
        std::vector<PatternMatch> matches;  // sorted by number
        bool is_cut = false;                // entries_max was reached before the end
    };

    explicit PathPattern(std::string_view text);

    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] bool has_stars() const noexcept { return text_.find('*') != std::string::npos; }
    /// Returns the path up to the first part with a star, or all of it. This part is accessed regardless of what is
    /// found.
    [[nodiscard]] std::string_view fixed_part() const noexcept;
    /// Returns the matching files. Names that begin with a dot match only a part that does too.
    [[nodiscard]] Found find() const;

  private:
    const std::string text_;
};

}  // namespace telegate::host
