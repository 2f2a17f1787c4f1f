#include "core/text.hpp"
#include "lines/line_fields.hpp"
#include "lines/line_parser.hpp"
#include "metrics/number_text.hpp"

#include <algorithm>
#include <optional>

namespace telegate {
namespace {

constexpr std::string_view separators = " \t,;";

/// Parses fields such as temp=21.5, separated by blanks, commas or semicolons, and texts in quotes: name="two
/// \"words\"".
class KeyValueParser final : public LineParser {
  public:
    /// A quote directly after the = of a field begins a quoted text.
    [[nodiscard]] bool ends_in_quotes(std::string_view line, bool begins_in_quotes) const noexcept override {
        bool is_quoted = begins_in_quotes;
        if (!is_quoted && trimmed(metrics::without_byte_order_mark(line)).starts_with('#')) {
            return false;
        }
        bool is_name = true;
        bool begins_value = false;
        for (std::size_t at = 0; at < line.size(); ++at) {
            const char c = line[at];
            if (is_quoted) {
                at += c == '\\' ? 1U : 0U;
                is_quoted = c != '"';
                continue;
            }
            is_quoted = begins_value && c == '"';
            begins_value = is_name && c == '=';
            is_name = separators.find(c) != std::string_view::npos || (is_name && c != '=');
        }
        return is_quoted;
    }

  private:
    LineResult parse_text(std::string_view line, LineFields& fields) override {
        if (trimmed(line).front() == '#') {
            return {LineResult::Status::ignored, {}};
        }
        for (skip_separators(line); !line.empty(); skip_separators(line)) {
            const std::size_t end = line.find_first_of(" \t,;=\"");
            if (end == std::string_view::npos || end == 0 || line[end] != '=') {
                return refuse_("no NAME=VALUE at", line);
            }
            const std::string_view name = line.substr(0, end);
            line.remove_prefix(end + 1);
            const auto value = take_value(line, fields);
            if (!value) {
                return refuse_("invalid quotes after", name);
            }
            if (!fields.add(name, *value)) {
                return refuse_("more than 256 fields, at", name);
            }
        }
        return {};
    }

    static void skip_separators(std::string_view& line) noexcept {
        line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
    }

    static std::optional<FieldValue> take_value(std::string_view& line, LineFields& fields) {
        if (!line.empty() && line.front() == '"') {
            return take_quoted(line, fields);
        }
        const std::string_view word = line.substr(0, line.find_first_of(separators));
        line.remove_prefix(word.size());
        if (const auto boolean = to_boolean(word)) {
            return FieldValue{*boolean};
        }
        return number_or_text(word);
    }

    /// A backslash escapes the next character.
    static std::optional<FieldValue> take_quoted(std::string_view& line, LineFields& fields) {
        std::size_t at = 1;
        for (; at < line.size() && line[at] != '"'; ++at) {
            at += line[at] == '\\' ? 1U : 0U;
            if (at < line.size()) {
                fields.append(line[at]);
            }
        }
        const std::string_view text = fields.take_text();
        if (at >= line.size()) {
            return std::nullopt;
        }
        line.remove_prefix(at + 1);
        if (!line.empty() && separators.find(line.front()) == std::string_view::npos) {
            return std::nullopt;
        }
        return FieldValue{text};
    }

    Refusal refuse_;
};

static_assert(LineFields::fields_max == 256, "the message says 256");

}  // namespace

std::unique_ptr<LineParser> make_key_value_parser() {
    return std::make_unique<KeyValueParser>();
}

}  // namespace telegate
