#include "core/text.hpp"
#include "core/topic.hpp"
#include "device/option_error.hpp"
#include "lines/line_fields.hpp"
#include "lines/line_parser.hpp"
#include "metrics/number_text.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace telegate {
namespace {

struct Column {
    std::string name;  // "": skipped
    std::string unit;
};

/// Parses NAME, NAME[UNIT] or -.
Column to_column(std::string_view text) {
    if (text == "-") {
        return {};
    }
    const std::size_t bracket = text.find('[');
    const std::string_view name = trimmed(text.substr(0, bracket));
    const bool has_unit = bracket != std::string_view::npos;
    if (name.empty() || (has_unit && text.back() != ']')) {
        throw OptionError("columns", "invalid column: \"" + std::string(text) + "\"; must be NAME, NAME[UNIT] or -");
    }
    return {std::string(name),
            has_unit ? std::string(text.substr(bracket + 1, text.size() - bracket - 2)) : std::string()};
}

std::vector<Column> to_columns(const std::vector<std::string>& texts) {
    if (texts.size() > LineFields::fields_max) {
        throw OptionError("columns", "too many columns: " + std::to_string(texts.size()) + "; must be at most " +
                                         std::to_string(LineFields::fields_max));
    }
    std::vector<Column> columns;
    std::set<std::string> channels;
    for (const std::string& text : texts) {
        columns.push_back(to_column(text));
        const std::string& name = columns.back().name;
        if (!name.empty() && !channels.insert(to_topic_part(name)).second) {
            throw OptionError("columns", "duplicate channel: \"" + name + "\"; each channel must have one column");
        }
    }
    if (channels.empty()) {
        throw OptionError("columns", "no column has a name; at least one must have a name");
    }
    return columns;
}

/// Columns in a fixed order, with quotes as in RFC 4180: they do not change the type of a value. Blanks around a column
/// are ignored.
class CsvParser final : public LineParser {
  public:
    explicit CsvParser(const LineFormat& format) : columns_(to_columns(format.columns)), delimiter_(format.delimiter) {
        const auto byte = static_cast<unsigned char>(delimiter_);
        const bool is_printable = byte >= ' ' && byte <= '~';
        if ((!is_printable && delimiter_ != '\t') || delimiter_ == '"' || delimiter_ == '#') {
            throw OptionError("delimiter",
                              "invalid delimiter; must be a tab, or a printable ASCII character except \" and #");
        }
    }

    [[nodiscard]] std::optional<std::vector<std::string>> field_names() const override {
        std::vector<std::string> names;
        for (const Column& column : columns_) {
            if (!column.name.empty()) {
                names.push_back(to_topic_part(column.name));
            }
        }
        return names;
    }

    /// A quote at the beginning of a cell, or directly after a closing one, begins a quoted text.
    [[nodiscard]] bool ends_in_quotes(std::string_view line, bool begins_in_quotes) const noexcept override {
        line = metrics::without_byte_order_mark(line);
        bool is_quoted = begins_in_quotes;
        if (!is_quoted && trimmed(line).starts_with('#')) {
            return false;
        }
        bool may_begin = true;
        for (const char c : line) {
            if (is_quoted) {
                is_quoted = c != '"';
            } else {
                is_quoted = may_begin && c == '"';
                may_begin = c == delimiter_ || (may_begin && (c == ' ' || c == '\t' || c == '"'));
            }
        }
        return is_quoted;
    }

  private:
    LineResult parse_text(std::string_view line, LineFields& fields) override {
        if (trimmed(line).front() == '#') {
            return {LineResult::Status::ignored, {}};
        }
        if (delimiter_ == ' ') {
            line = trimmed(line);
        }
        bool is_heading = true;
        std::string_view rest = line;
        std::size_t count = 0;
        for (bool more = true; more; ++count) {
            if (count == columns_.size()) {
                return refuse_("more than " + std::to_string(count) + " columns in", line);
            }
            const Column& column = columns_[count];
            const auto value = take_cell(rest, more, fields);
            if (!value) {
                return refuse_("invalid quotes in", line);
            }
            if (!column.name.empty()) {
                // succeeds: there are not more columns than fields_max
                (void)fields.add(column.name, *value, column.unit);
                is_heading = is_heading && *value == FieldValue{std::string_view(column.name)};
            }
        }
        if (count < columns_.size()) {
            return refuse_("fewer than " + std::to_string(columns_.size()) + " columns in", line);
        }
        return {is_heading ? LineResult::Status::ignored : LineResult::Status::ok, {}};
    }

    /// Removes and returns the next cell and the delimiter after it; `more` is whether there was a delimiter. Returns
    /// nullopt for invalid quotes.
    std::optional<FieldValue> take_cell(std::string_view& rest, bool& more, LineFields& fields) const {
        skip(rest, delimiter_ == '\t' ? " " : " \t");
        const bool is_quoted = !rest.empty() && rest.front() == '"';
        FieldValue value;
        if (is_quoted) {
            const auto text = take_quoted(rest, fields);
            if (!text) {
                return std::nullopt;
            }
            value = number_or_text(*text);
            skip(rest, delimiter_ == '\t' ? " " : delimiter_ == ' ' ? "\t" : " \t");
        }
        const std::size_t end = is_quoted ? 0 : std::min(rest.find(delimiter_), rest.size());
        if (!is_quoted) {
            value = number_or_text(trimmed(rest.substr(0, end)));
        }
        rest.remove_prefix(end);
        more = !rest.empty();
        if (more && rest.front() != delimiter_) {
            return std::nullopt;
        }
        rest.remove_prefix(more ? 1 : 0);
        return value;
    }

    static void skip(std::string_view& rest, std::string_view blanks) noexcept {
        rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    }

    /// Two quotes in a quoted cell stand for one.
    static std::optional<std::string_view> take_quoted(std::string_view& rest, LineFields& fields) {
        std::size_t at = 1;
        while (at < rest.size() && (rest[at] != '"' || rest.substr(at, 2) == "\"\"")) {
            fields.append(rest[at]);
            at += rest[at] == '"' ? 2U : 1U;
        }
        const std::string_view text = fields.take_text();
        if (at >= rest.size()) {
            return std::nullopt;
        }
        rest.remove_prefix(at + 1);
        return text;
    }

    const std::vector<Column> columns_;
    const char delimiter_;
    Refusal refuse_;
};

}  // namespace

std::unique_ptr<LineParser> make_csv_parser(const LineFormat& format) {
    return std::make_unique<CsvParser>(format);
}

}  // namespace telegate
