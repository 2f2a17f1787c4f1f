#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate {

/// What a field of a line is worth. monostate: the field is there and has no value, such as an empty column or NaN.
using FieldValue = std::variant<std::monostate, double, std::int64_t, bool, std::string_view>;

/// One field of a line. What it views belongs to the line, the parser or the LineFields that hold it.
struct LineField {
    std::string_view name;
    FieldValue value;
    std::string_view unit;  // UCUM, "" when the line does not tell
};

/// The fields of one line, in its order. One object serves all lines of a device, and keeps its memory.
///
/// Threads: the one that parses.
/// Limits:  fields_max fields. A text that cannot stay a part of its line, such as one with escaped quotes, is kept
///          here; all of them together are no longer than the line and made_up_bytes_max.
/// Failure: add() answers false when there is no room for one more; start() may throw std::bad_alloc.
class LineFields {
  public:
    /// More than a table row or a sentence of a sensible device has; 16 KiB.
    static constexpr std::size_t fields_max = 256;
    /// For names and texts that a parser makes up.
    static constexpr std::size_t made_up_bytes_max = 256;

    LineFields();

    /// Empties it, with room for what a line of `line_bytes` can need. Allocates for the longest line so far only.
    void start(std::size_t line_bytes);
    [[nodiscard]] bool add(std::string_view name, FieldValue value, std::string_view unit = {});

    /// A text in the making, that is not part of the line: append to it, then take what has come together. What is
    /// beyond the limit is cut, which no parser reaches.
    void append(char byte);
    void append(std::string_view text);
    [[nodiscard]] std::string_view take_text();

    [[nodiscard]] const LineField* begin() const noexcept { return fields_.data(); }
    [[nodiscard]] const LineField* end() const noexcept { return fields_.data() + fields_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return fields_.size(); }

  private:
    std::vector<LineField> fields_;
    std::string texts_;           // never grows between start() and the next: the fields view it
    std::size_t text_begin_ = 0;  // of the one in the making
};

}  // namespace telegate
