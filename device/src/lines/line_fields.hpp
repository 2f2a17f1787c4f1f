#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate {

/// A whole number of more than 64 bits, which a double cannot represent exactly.
struct RoundedNumber {
    double real = 0;
    bool operator==(const RoundedNumber&) const = default;
};

/// The value of a field. monostate: the field exists without a value, such as an empty column or NaN.
using FieldValue = std::variant<std::monostate, double, std::int64_t, bool, std::string_view, RoundedNumber>;

/// One field of a line. Its views point into the line, the parser or the LineFields that contains it.
struct LineField {
    std::string_view name;
    FieldValue value;
    std::string_view unit;  // UCUM, "" if the line does not specify it
};

/// The fields of one line, in order. One object is used for all lines of a device and keeps its memory.
///
/// Threads: the one that parses.
/// Limits: fields_max fields. A text that is not part of its line, such as one with escaped quotes, is stored here;
/// together these are not longer than the line plus created_bytes_max.
/// Failure: add() returns false if it is full; start() may throw std::bad_alloc.
class LineFields {
  public:
    /// More than realistic table rows and sentences have; 16 KiB.
    static constexpr std::size_t fields_max = 256;
    /// For names and texts that a parser creates.
    static constexpr std::size_t created_bytes_max = 256;

    LineFields();

    /// Clears the fields and reserves memory for a line of `line_bytes`. Allocates only for a new longest line.
    void start(std::size_t line_bytes);
    [[nodiscard]] bool add(std::string_view name, FieldValue value, std::string_view unit = {});

    /// append() and take_text() build a text that is not part of the line. Text beyond the limit is truncated; no
    /// parser reaches the limit.
    void append(char byte);
    void append(std::string_view text);
    [[nodiscard]] std::string_view take_text();

    [[nodiscard]] const LineField* begin() const noexcept { return fields_.data(); }
    [[nodiscard]] const LineField* end() const noexcept { return fields_.data() + fields_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return fields_.size(); }

  private:
    std::vector<LineField> fields_;
    std::string texts_;           // does not grow until the next start(), because fields view it
    std::size_t text_begin_ = 0;  // of the text that is being built
};

/// Returns whether the text is well-formed UTF-8 (RFC 3629) without NUL bytes.
[[nodiscard]] bool is_plain_text(std::string_view text) noexcept;

/// Returns a number. Returns no value (monostate) for an empty word, NaN, an infinity or a number that a double cannot
/// represent, and nullopt for a word that is not a number.
[[nodiscard]] std::optional<FieldValue> number_of(std::string_view word) noexcept;

/// Like number_of(), but returns the text if the word is not a number.
[[nodiscard]] FieldValue number_or_text(std::string_view word) noexcept;

/// Parses true, false, on, off, yes and no, ignoring case.
[[nodiscard]] std::optional<bool> to_boolean(std::string_view word) noexcept;

/// Returns the beginning of a text for messages, cut at a character boundary.
[[nodiscard]] std::string_view excerpt(std::string_view text) noexcept;

}  // namespace telegate
