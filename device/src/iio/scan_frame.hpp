#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// The frames of an IIO buffer. Each holds one value of every channel that is on, in the order of their indices, each
/// at a multiple of its own length, and is as long as a multiple of the longest.
namespace telegate::iio {

/// How a value lies in a frame, as scan_elements/in_X_type says: be:s12/16>>4.
struct ScanType {
    enum class Form : std::uint8_t { whole, natural, real };  // signed, unsigned, floating point

    bool big_endian = false;
    Form form = Form::natural;
    std::uint32_t bits = 0;  // that count, after the shift
    std::uint32_t bytes = 0;
    std::uint32_t repeat = 1;  // values in a row
    std::uint32_t shift = 0;

    [[nodiscard]] std::size_t length() const noexcept { return std::size_t{bytes} * repeat; }
};

inline constexpr std::uint32_t repeat_max = 16;  // a quaternion has 4
inline constexpr std::size_t elements_max = 128;

/// Nullopt for what is no such text, and for what does not fit itself: more bits than bytes, a shift beyond.
[[nodiscard]] std::optional<ScanType> parse_scan_type(std::string_view text) noexcept;

/// The value at the front of `bytes`, which hold type.bytes at least. Whole numbers beyond 53 bits are rounded.
[[nodiscard]] double decode_value(const ScanType& type, std::span<const std::byte> bytes) noexcept;
/// The same as a whole number; unsigned ones beyond 63 bits wrap. Not for Form::real.
[[nodiscard]] std::int64_t decode_whole(const ScanType& type, std::span<const std::byte> bytes) noexcept;

/// Where the values of a frame are.
///
/// Threads: one at a time.
/// Limits:  elements_max elements.
/// Failure: add() answers false beyond them.
class FrameLayout {
  public:
    /// Elements come in the order of their indices.
    bool add(const ScanType& type);

    [[nodiscard]] std::size_t elements() const noexcept { return elements_.size(); }
    [[nodiscard]] const ScanType& type(std::size_t element) const noexcept { return elements_[element].type; }
    /// 0 without elements.
    [[nodiscard]] std::size_t frame_bytes() const noexcept;
    /// The bytes of one value in a frame that is as long as frame_bytes() says.
    [[nodiscard]] std::span<const std::byte> value_bytes(std::span<const std::byte> frame, std::size_t element,
                                                         std::uint32_t number = 0) const noexcept;

  private:
    struct Element {
        ScanType type;
        std::size_t offset = 0;
    };

    std::vector<Element> elements_;
    std::size_t end_ = 0;  // of the last one
    std::size_t longest_ = 0;
};

}  // namespace telegate::iio
