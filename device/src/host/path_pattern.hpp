#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::host {

/// A file that a pattern names.
struct PatternMatch {
    std::string path;
    std::string stars;  // what the stars stand for, with a dot between two of them; "" for a path without stars
};

/// An absolute path in which each part may have one '*', for any text within that part.
///
/// Threads: one at a time.
/// Limits:  entries_max directory entries are looked at.
/// Failure: the constructor throws std::invalid_argument; find() throws std::bad_alloc only, and what it cannot read it
///          does not find.
class PathPattern {
  public:
    static constexpr std::size_t entries_max = 4'096;

    struct Found {
        std::vector<PatternMatch> matches;  // in the order of their numbers
        bool is_cut = false;                // entries_max came before the end
    };

    explicit PathPattern(std::string_view text);

    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] bool has_stars() const noexcept { return text_.find('*') != std::string::npos; }
    /// The path up to the first part with a star, or all of it: what is walked whatever is found.
    [[nodiscard]] std::string_view fixed_part() const noexcept;
    /// Names that begin with a dot are found only by a part that does.
    [[nodiscard]] Found find() const;

  private:
    const std::string text_;
};

}  // namespace telegate::host
