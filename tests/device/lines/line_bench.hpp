#pragma once

#include "lines/line_parser.hpp"
#include "support/catch.hpp"

#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace telegate::test {

/// name=value, where texts are in quotes, reals have a decimal point, rounded numbers a ~, - means no value, and [unit]
/// comes last.
inline std::string text_of(const LineField& field) {
    std::ostringstream out;
    out.precision(9);
    out << field.name << '=';
    std::visit(
        [&](const auto& value) {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::monostate>) {
                out << '-';
            } else if constexpr (std::is_same_v<Value, bool>) {
                out << (value ? "true" : "false");
            } else if constexpr (std::is_same_v<Value, std::string_view>) {
                out << '"' << value << '"';
            } else if constexpr (std::is_same_v<Value, double>) {
                std::ostringstream number;
                number.precision(9);
                number << value;
                out << number.str() << (number.str().find_first_of(".e") == std::string::npos ? "." : "");
            } else if constexpr (std::is_same_v<Value, RoundedNumber>) {
                out << value.real << '~';
            } else {
                out << value;
            }
        },
        field.value);
    if (!field.unit.empty()) {
        out << '[' << field.unit << ']';
    }
    return out.str();
}

/// The result of a parser as text.
class LineBench {
  public:
    explicit LineBench(const LineFormat& format) : parser_(make_line_parser(format)) {}

    /// Returns the fields separated by blanks; "ignored"; or "refused: " and the reason.
    std::string operator()(std::string_view line) {
        const LineResult result = parser_->parse(line, fields_);
        if (result.status == LineResult::Status::ignored) {
            return "ignored";
        }
        if (result.status == LineResult::Status::refused) {
            return "refused: " + std::string(result.why);
        }
        std::string text;
        for (const LineField& field : fields_) {
            text += (text.empty() ? "" : " ") + text_of(field);
        }
        return text;
    }
    bool refuses(std::string_view line) { return (*this)(line).starts_with("refused: "); }

  private:
    std::unique_ptr<LineParser> parser_;
    LineFields fields_;
};

}  // namespace telegate::test
