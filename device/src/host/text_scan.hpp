#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

/// Reading the texts of procfs without a copy, an allocation or a locale.
namespace telegate::host {

/// Takes the next line, without its end, off the front of `text`; empty when nothing is left.
[[nodiscard]] std::string_view take_line(std::string_view& text) noexcept;

/// Takes the next word off the front of `text`, spaces and line ends before it included; empty when none is left.
std::string_view take_word(std::string_view& text) noexcept;

/// `text` without the spaces and line ends around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// The number that all of `word` is; nullopt for anything else.
template <class Number>
[[nodiscard]] std::optional<Number> to_number(std::string_view word) noexcept {
    Number number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size()) {
        return std::nullopt;
    }
    return number;
}

/// Reads numbers from the front of `text` up to the first word that is none. Returns how many were read.
[[nodiscard]] std::size_t read_numbers(std::string_view text, std::span<std::uint64_t> numbers) noexcept;

}  // namespace telegate::host
