#include "iio/scan_frame.hpp"

#include "shortest_real.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <system_error>

namespace telegate::iio {
namespace {

constexpr std::uint32_t bits_per_byte = 8;
constexpr std::uint32_t value_bytes_max = 8;

bool consume(std::string_view& text, std::string_view word) noexcept {
    const bool is_there = text.starts_with(word);
    text.remove_prefix(is_there ? word.size() : 0);
    return is_there;
}

std::optional<std::uint32_t> parse_number(std::string_view& text) noexcept {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool fits_itself(const ScanType& type, std::uint32_t storage_bits) noexcept {
    const bool is_stored = type.bytes >= 1 && type.bytes <= value_bytes_max && storage_bits % bits_per_byte == 0;
    const bool is_real = type.form == ScanType::Form::real;
    return is_stored && type.bits >= 1 && type.bits <= storage_bits && type.shift <= storage_bits - type.bits &&
           type.repeat >= 1 && type.repeat <= repeat_max && (!is_real || type.bits == 32 || type.bits == 64);
}

std::uint64_t bits_of(const ScanType& type, std::span<const std::byte> bytes) noexcept {
    std::uint64_t word = 0;
    for (std::size_t index = 0; index < type.bytes; ++index) {
        const std::size_t from = type.big_endian ? index : type.bytes - 1 - index;
        word = word << bits_per_byte | std::to_integer<std::uint64_t>(bytes[from]);
    }
    constexpr std::uint32_t word_bits = 64;
    return word >> type.shift & ~std::uint64_t{0} >> (word_bits - type.bits);
}

constexpr std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
    return (value + unit - 1) / unit * unit;
}

}  // namespace

std::optional<ScanType> parse_scan_type(std::string_view text) noexcept {
    ScanType type;
    type.big_endian = consume(text, "be:");
    if (!type.big_endian && !consume(text, "le:")) {
        return std::nullopt;
    }
    if (consume(text, "s")) {
        type.form = ScanType::Form::whole;
    } else if (consume(text, "f")) {
        type.form = ScanType::Form::real;
    } else if (!consume(text, "u")) {
        return std::nullopt;
    }
    const auto bits = parse_number(text);
    const bool has_slash = consume(text, "/");
    const auto storage_bits = parse_number(text);
    const auto repeat = consume(text, "X") ? parse_number(text) : 1;
    const auto shift = consume(text, ">>") ? parse_number(text) : 0;
    if (!bits || !has_slash || !storage_bits || !repeat || !shift || !text.empty()) {
        return std::nullopt;
    }
    type.bits = *bits;
    type.bytes = *storage_bits / bits_per_byte;
    type.repeat = *repeat;
    type.shift = *shift;
    return fits_itself(type, *storage_bits) ? std::optional(type) : std::nullopt;
}

std::int64_t decode_whole(const ScanType& type, std::span<const std::byte> bytes) noexcept {
    std::uint64_t bits = bits_of(type, bytes);
    const std::uint64_t sign = std::uint64_t{1} << (type.bits - 1);
    if (type.form == ScanType::Form::whole) {
        bits = (bits ^ sign) - sign;
    }
    return static_cast<std::int64_t>(bits);
}

double decode_value(const ScanType& type, std::span<const std::byte> bytes) noexcept {
    constexpr std::uint32_t float_bits = 32;
    if (type.form == ScanType::Form::natural) {
        return static_cast<double>(bits_of(type, bytes));
    }
    if (type.form == ScanType::Form::whole) {
        return static_cast<double>(decode_whole(type, bytes));
    }
    const std::uint64_t bits = bits_of(type, bytes);
    return type.bits == float_bits ? shortest_real(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                                   : std::bit_cast<double>(bits);
}

bool FrameLayout::add(const ScanType& type) {
    if (elements_.size() == elements_max) {
        return false;
    }
    const std::size_t offset = round_up(end_, type.length());
    elements_.push_back({type, offset});
    end_ = offset + type.length();
    longest_ = std::max(longest_, type.length());
    return true;
}

std::size_t FrameLayout::frame_bytes() const noexcept {
    return elements_.empty() ? 0 : round_up(end_, longest_);
}

std::span<const std::byte> FrameLayout::value_bytes(std::span<const std::byte> frame, std::size_t element,
                                                    std::uint32_t number) const noexcept {
    const Element& each = elements_[element];
    return frame.subspan(each.offset + std::size_t{number} * each.type.bytes, each.type.bytes);
}

}  // namespace telegate::iio
