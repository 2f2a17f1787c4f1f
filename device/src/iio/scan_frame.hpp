#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// The frames of an IIO buffer. A frame contains one value of every enabled channel, in the order of their indices.
/// Each value is aligned to its own length, and the frame length is a multiple of the longest value.
namespace telegate::iio {

/// The layout of a value in a frame, from scan_elements/in_X_type, such as be:s12/16>>4.
struct ScanType {
    enum class Form : std::uint8_t { whole, natural, real };  // signed, unsigned, floating point

    bool big_endian = false;
    Form form = Form::natural;
    std::uint32_t bits = 0;  // significant bits, after the shift
    std::uint32_t bytes = 0;
    std::uint32_t repeat = 1;  // number of consecutive values
    std::uint32_t shift = 0;

    [[nodiscard]] std::size_t length() const noexcept { return std::size_t{bytes} * repeat; }
};

inline constexpr std::uint32_t repeat_max = 16;  // a quaternion has 4
inline constexpr std::size_t elements_max = 128;

/// Parses a type. Returns nullopt for other texts and for contradictory ones: more bits than bytes, or a shift beyond
/// the bits.
[[nodiscard]] std::optional<ScanType> parse_scan_type(std::string_view text) noexcept;

/// Decodes the value at the start of `bytes`, which must have at least type.bytes. Whole numbers beyond 53 bits are
/// rounded.
[[nodiscard]] double decode_value(const ScanType& type, std::span<const std::byte> bytes) noexcept;
/// Like decode_value(), as a whole number; unsigned values beyond 63 bits wrap. Not for Form::real.
[[nodiscard]] std::int64_t decode_whole(const ScanType& type, std::span<const std::byte> bytes) noexcept;

/// The positions of the values in a frame.
///
/// Threads: one at a time.
/// Limits: elements_max elements.
/// Failure: add() returns false if there are more.
class FrameLayout {
  public:
    /// Appends an element. Elements must be added in the order of their indices.
    bool add(const ScanType& type);

    [[nodiscard]] std::size_t elements() const noexcept { return elements_.size(); }
    [[nodiscard]] const ScanType& type(std::size_t element) const noexcept { return elements_[element].type; }
    /// Returns the length of a frame; 0 without elements.
    [[nodiscard]] std::size_t frame_bytes() const noexcept;
    /// Returns the bytes of one value; `frame` must be frame_bytes() bytes long.
    [[nodiscard]] std::span<const std::byte> value_bytes(std::span<const std::byte> frame, std::size_t element,
                                                         std::uint32_t number = 0) const noexcept;

  private:
    struct Element {
        ScanType type;
        std::size_t offset = 0;
    };

    std::vector<Element> elements_;
    std::size_t end_ = 0;  // end of the last element
    std::size_t longest_ = 0;
};

}  // namespace telegate::iio
