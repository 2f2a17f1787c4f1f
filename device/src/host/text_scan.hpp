#pragma once

#include "core/text.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// Functions that read the texts of procfs without copies, allocations or a locale.
namespace telegate::host {

inline constexpr std::string_view blanks = " \t\n";

/// Takes the next line, without its end, from the front of `text`; empty if nothing is left.
[[nodiscard]] std::string_view take_line(std::string_view& text) noexcept;

/// Takes the next word from the front of `text`, skipping spaces and line ends before it; empty if none is left.
std::string_view take_word(std::string_view& text) noexcept;

/// Reads numbers from the front of `text` up to the first word that is not a number. Returns how many were read.
[[nodiscard]] std::size_t read_numbers(std::string_view text, std::span<std::uint64_t> numbers) noexcept;

}  // namespace telegate::host
