#include "csv_text.hpp"

#include "core/text.hpp"

#include <cstddef>
#include <utility>

namespace telegate {
namespace {

constexpr std::string_view csv_blanks = " \t\r";

/// Takes a quoted field off the front of `line`, which begins after the opening quote. Returns nullopt if the closing
/// quote is missing.
std::optional<std::string> take_quoted(std::string_view& line) {
    std::string field;
    for (;;) {
        const std::size_t quote = line.find('"');
        if (quote == std::string_view::npos) {
            return std::nullopt;
        }
        field += line.substr(0, quote);
        line.remove_prefix(quote + 1);
        if (!line.starts_with('"')) {
            return field;
        }
        field += '"';
        line.remove_prefix(1);
    }
}

}  // namespace

char csv_separator(std::string_view first_line) noexcept {
    const std::size_t found = first_line.find_first_of(",;\t");
    return found == std::string_view::npos ? ',' : first_line[found];
}

std::optional<std::vector<std::string>> csv_fields(std::string_view line, char separator) {
    std::vector<std::string> fields;
    for (;;) {
        const std::size_t first = line.find_first_not_of(separator == '\t' ? " " : " \t");
        std::string field;
        if (first != std::string_view::npos && line[first] == '"') {
            line.remove_prefix(first + 1);
            std::optional<std::string> quoted_field = take_quoted(line);
            if (!quoted_field || !trimmed(line.substr(0, line.find(separator)), csv_blanks).empty()) {
                return std::nullopt;
            }
            field = std::move(*quoted_field);
        } else {
            field = trimmed(line.substr(0, line.find(separator)), csv_blanks);
        }
        fields.push_back(std::move(field));
        const std::size_t end = line.find(separator);
        if (end == std::string_view::npos) {
            return fields;
        }
        line.remove_prefix(end + 1);
    }
}

}  // namespace telegate
