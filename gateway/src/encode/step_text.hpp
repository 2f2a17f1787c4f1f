#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace telegate {

/// A text with padding, for fast repeated copies in large steps.
/// Threads: one. Limits: none. Failure: the constructor may throw std::bad_alloc.
class StepText {
  public:
    static constexpr std::size_t step_bytes = 32;

    explicit StepText(std::string_view text) : bytes_(text), size_(text.size()) {
        bytes_.resize(std::max<std::size_t>(1, (size_ + step_bytes - 1) / step_bytes) * step_bytes);
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Copies the text and up to step_bytes of padding. Returns the end of the text.
    char* put(char* out) const noexcept {
        const char* const from = bytes_.data();
        std::memcpy(out, from, step_bytes);
        for (std::size_t copied = step_bytes; copied < size_; copied += step_bytes) {
            std::memcpy(out + copied, from + copied, step_bytes);
        }
        return out + size_;
    }

  private:
    std::string bytes_;  // size is a multiple of step_bytes
    std::size_t size_;
};

/// A StepText of up to 16 bytes for compile-time constants. Threads: any. Limits: 16 bytes. Failure: none.
class ShortText {
  public:
    static constexpr std::size_t bytes_max = 16;

    explicit constexpr ShortText(std::string_view text) : size_(text.size()) {
        std::copy_n(text.begin(), size_, bytes_.begin());
    }
    /// Copies bytes_max bytes. Returns the end of the text.
    char* put(char* out) const noexcept {
        std::memcpy(out, bytes_.data(), bytes_max);
        return out + size_;
    }

  private:
    std::array<char, bytes_max> bytes_{};
    std::size_t size_;
};

/// A constant text that is put together at compile time. Threads: any. Limits: 64 bytes; a longer text does not
/// compile. Failure: none.
class ConstantText {
  public:
    constexpr ConstantText& add(std::string_view text) {
        std::copy(text.begin(), text.end(), bytes_.begin() + size_);
        size_ += text.size();
        return *this;
    }
    constexpr ConstantText& add(char byte) { return add(std::string_view(&byte, 1)); }
    [[nodiscard]] constexpr std::string_view text() const { return {bytes_.data(), size_}; }

  private:
    std::array<char, 64> bytes_{};
    std::size_t size_ = 0;
};

}  // namespace telegate
