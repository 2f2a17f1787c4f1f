#pragma once

#include "lines/line_fields.hpp"
#include "lines/line_format.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The result of parsing a line.
struct LineResult {
    enum class Status : std::uint8_t {
        ok,       // all of its fields were parsed
        ignored,  // not relevant: blank, a comment, a sentence of another kind
        refused,  // does not match the format; its fields are not used
    };
    Status status = Status::ok;
    std::string_view why = {};  // for refused; valid until the next call of the parser
};

/// Parses the lines of one format into fields. Pure: the result depends only on the line.
///
/// A complete field that is a number (metrics::parse_number) is an integer if it is written as one and fits in 64 bits,
/// otherwise a real number, which is uncertain if it is written as an integer. NaN, infinities, numbers beyond the
/// range of a double and empty fields have no value. In key=value fields, true, false, on, off, yes and no are
/// booleans. Anything else is text.
///
/// Threads: one at a time.
/// Limits: LineFields::fields_max fields, a line with more is refused; the length limit of the caller's LineAssembler.
/// Lines not longer than an earlier one need no allocation, except in RE2 (format regex).
/// Failure: a line is refused with the reason if it is not UTF-8, contains a NUL byte (a tty turns a corrupt character
/// into one) or does not match the format.
class LineParser {
  public:
    virtual ~LineParser() = default;

    /// Parses a line, without its line end. Line ends between quotes are LFs. After `ok`, `fields` contains the fields,
    /// which view `line`.
    [[nodiscard]] LineResult parse(std::string_view line, LineFields& fields);

    /// Returns whether the end of a line is between quotes. `begins_in_quotes` is whether its beginning is.
    [[nodiscard]] virtual bool ends_in_quotes(std::string_view /*line*/, bool /*begins_in_quotes*/) const noexcept {
        return false;
    }

    /// Returns all names that a field can have, where * stands for any text; nullopt if the lines name their fields.
    [[nodiscard]] virtual std::optional<std::vector<std::string>> field_names() const { return std::nullopt; }

  private:
    /// `line` is UTF-8 without NUL bytes, and not blank; `fields` has been started.
    virtual LineResult parse_text(std::string_view line, LineFields& fields) = 0;
};

/// Creates a parser. Throws std::invalid_argument for an invalid format: no columns, too many columns, no named group,
/// an invalid pattern. The text names the setting (columns, delimiter, pattern), its value and what is allowed.
[[nodiscard]] std::unique_ptr<LineParser> make_line_parser(const LineFormat& format);

/// One factory for each kind of line; all throw std::invalid_argument for an invalid format.
[[nodiscard]] std::unique_ptr<LineParser> make_key_value_parser();
[[nodiscard]] std::unique_ptr<LineParser> make_csv_parser(const LineFormat& format);
[[nodiscard]] std::unique_ptr<LineParser> make_nmea_parser(bool checksum_required);
[[nodiscard]] std::unique_ptr<LineParser> make_regex_parser(const LineFormat& format);

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
