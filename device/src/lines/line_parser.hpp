#pragma once

#include "device/line_format.hpp"
#include "lines/line_fields.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// What became of a line.
struct LineResult {
    enum class Status : std::uint8_t {
        ok,       // all of its fields are there
        ignored,  // nothing for us: blank, a comment, a sentence of another kind
        refused,  // not what the format says; no field of it counts
    };
    Status status = Status::ok;
    std::string_view why = {};  // for refused; valid until the next call of the parser
};

/// Makes fields of the lines of one format. Pure: the result depends on the line alone.
///
/// A whole field in the syntax of std::from_chars, with or without '+', is a number: an integer when it is written as
/// one and fits 64 bits, else a real. NaN, infinities, numbers out of range and empty fields have no value. true,
/// false, on, off, yes and no are booleans where a field is key=value. All else is text.
///
/// Threads: one at a time.
/// Limits:  LineFields::fields_max fields, a line with more is refused; what the caller's LineAssembler says for the
///          line. Nothing is allocated per line once the longest has been met; RE2, behind regex, may.
/// Failure: a line that is not UTF-8, holds a NUL byte (which is what a tty makes of a broken character) or is not in
///          the format is refused and says why.
class LineParser {
  public:
    virtual ~LineParser() = default;

    /// `line` is without its end. After `ok`, `fields` has the fields; they view `line`.
    [[nodiscard]] LineResult parse(std::string_view line, LineFields& fields);

    /// Returns every name that a field can have, where one * stands for any text; nullopt: the lines name their fields.
    [[nodiscard]] virtual std::optional<std::vector<std::string>> field_names() const { return std::nullopt; }

  private:
    /// `line` is UTF-8 without NUL bytes, and not blank; `fields` has begun.
    virtual LineResult parse_text(std::string_view line, LineFields& fields) = 0;
};

/// Throws std::invalid_argument for a format that cannot be: no columns, too many, no named group, a bad pattern. The
/// text names the member as the settings do (columns, delimiter, pattern), the value and what is allowed.
[[nodiscard]] std::unique_ptr<LineParser> make_line_parser(const LineFormat& format);

}  // namespace telegate
