#include "log/log_value.hpp"

#include "base/readable_bytes.hpp"

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

std::string books_text(const Books& books) {
    const auto dropped = [&books](DropReason reason) {
        return books.dropped[static_cast<std::size_t>(reason)];
    };
    return "sampled=" + std::to_string(books.sampled) + " published=" + std::to_string(books.published) +
           " filtered=" + std::to_string(books.filtered) + " queued=" + std::to_string(books.queued) +
           " dropped_queue_overflow=" + std::to_string(dropped(DropReason::queue_overflow)) +
           " dropped_shutdown=" + std::to_string(dropped(DropReason::shutdown)) +
           " balanced=" + (books.balanced() ? "true" : "false");
}

}  // namespace telegate
