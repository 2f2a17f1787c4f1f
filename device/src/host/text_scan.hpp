#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

/// Functions that read the texts of procfs without copies, allocations or a locale.
namespace telegate::host {

/// Takes the next line, without its end, from the front of `text`; empty if nothing is left.
[[nodiscard]] std::string_view take_line(std::string_view& text) noexcept;

/// Takes the next word from the front of `text`, skipping spaces and line ends before it; empty if none is left.
std::string_view take_word(std::string_view& text) noexcept;

/// Returns `text` without leading and trailing spaces and line ends.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// Converts `word` to a number; returns nullopt if any of it is not part of the number.
template <class Number>
[[nodiscard]] std::optional<Number> to_number(std::string_view word) noexcept {
    Number number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size()) {
        return std::nullopt;
    }
    return number;
}

/// Reads numbers from the front of `text` up to the first word that is not a number. Returns how many were read.
[[nodiscard]] std::size_t read_numbers(std::string_view text, std::span<std::uint64_t> numbers) noexcept;

}  // namespace telegate::host
