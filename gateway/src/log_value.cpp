#include "log_value.hpp"

#include "readable_bytes.hpp"

namespace telegate {
namespace {

std::string in_quotes(std::string_view readable) {
    std::string text = "\"";
    for (const char c : readable) {
        text += c == '"' ? "\\\"" : std::string(1, c);
    }
    return text + '"';
}

}  // namespace

std::string log_value(std::string_view bytes) {
    const std::string readable = to_readable(bytes);
    const bool is_word = !readable.empty() && readable.find_first_of(" \"=") == std::string::npos;
    return is_word ? readable : in_quotes(readable);
}

std::string log_quoted(std::string_view bytes) {
    return in_quotes(to_readable(bytes));
}

}  // namespace telegate
