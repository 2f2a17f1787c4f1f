#pragma once

#include "checker.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace telegate::perf {

/// The sender's messages, made a few ahead, as one makes them who reads values before sending them. A copy of bytes
/// that were written an instant ago would wait for the processor to finish all writes before, of the earlier messages
/// too. Threads: one. Limits: bytes_max, or one message. Failure: the constructor throws std::bad_alloc.
class Payloads {
  public:
    explicit Payloads(std::size_t size)
        : size_(size), count_(std::clamp<std::size_t>(bytes_max / size, 1, count_max)), bytes_(count_ * size, 'p') {}

    /// The payload of the message of this number; called for one after the other, from 0.
    [[nodiscard]] std::string_view operator[](std::uint64_t number) noexcept {
        const std::size_t place = next_;
        next_ = next_ + 1 == count_ ? 0 : next_ + 1;
        if (place == 0) {
            for (std::size_t index = 0; index < count_; ++index) {
                stamp(std::span(bytes_).subspan(index * size_, size_), number + index);
            }
        }
        return {bytes_.data() + place * size_, size_};
    }
    /// A payload that is none of them.
    [[nodiscard]] std::string_view hello() noexcept {
        stamp(std::span(bytes_).first(size_), hello_number);
        return {bytes_.data(), size_};
    }

  private:
    static constexpr std::size_t bytes_max = 16 * 1024;
    static constexpr std::size_t count_max = 32;

    const std::size_t size_;
    const std::size_t count_;
    std::vector<char> bytes_;
    std::size_t next_ = 0;
};

}  // namespace telegate::perf
