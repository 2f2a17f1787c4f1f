#pragma once

#include "core/sequence_lock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace telegate {

/// The text of the last error.
///
/// Threads: store() one writer; load() any, lock-free.
/// Limits: bytes_max; a longer text is truncated at a UTF-8 boundary.
/// Failure: none. load() retries, without a lock, while a store() is in progress.
class ErrorText {
  public:
    static constexpr std::size_t bytes_max = 160;

    void store(std::string_view text) noexcept;
    [[nodiscard]] std::string load() const;

  private:
    static constexpr std::size_t words = bytes_max / sizeof(std::uint64_t);
    using Words = std::array<std::uint64_t, words>;

    Words last_{};  // used by the writer only
    std::size_t last_bytes_ = 0;
    SequenceLock lock_;
    std::atomic<std::size_t> bytes_{0};
    std::array<std::atomic<std::uint64_t>, words> words_{};
};

}  // namespace telegate
