#pragma once

#include "lines/field_value.hpp"
#include "lines/line_parser.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate {

/// Builds the text of why a line was refused. Reuses its memory.
///
/// Threads: one at a time.
/// Limits: a quoted text is truncated by excerpt().
/// Failure: std::bad_alloc for a text longer than any before.
class Refusal {
  public:
    Refusal() { text_.reserve(bytes_usual); }

    /// Builds `what`, then `quoted` in quotes, then `more`.
    [[nodiscard]] LineResult operator()(std::string_view what, std::string_view quoted, std::string_view more = {}) {
        text_ = what;
        text_ += " \"";
        text_ += excerpt(quoted);
        text_ += '"';
        text_ += more;
        return {LineResult::Status::refused, text_};
    }

  private:
    static constexpr std::size_t bytes_usual = 160;
    std::string text_;
};

}  // namespace telegate
