#include "host/text_scan.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace telegate::host {
std::string_view take_line(std::string_view& text) noexcept {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

std::string_view take_word(std::string_view& text) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    const std::size_t end = std::min(text.find_first_of(blanks), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

std::size_t read_numbers(std::string_view text, std::span<std::uint64_t> numbers) noexcept {
    std::size_t count = 0;
    while (count < numbers.size()) {
        const std::optional<std::uint64_t> number = parse_number<std::uint64_t>(take_word(text));
        if (!number) {
            break;
        }
        numbers[count++] = *number;
    }
    return count;
}

}  // namespace telegate::host
