#pragma once

#include "lines/field_value.hpp"
#include "lines/line_parser.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate {

/// Why a line was refused, in words. Keeps its memory from line to line.
///
/// Threads: one at a time.
/// Limits:  of a quoted text not more than excerpt() gives.
/// Failure: std::bad_alloc for words longer than any before.
class Refusal {
  public:
    Refusal() { text_.reserve(bytes_usual); }

    /// `what`, then `quoted` in quotes, then `more`.
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
