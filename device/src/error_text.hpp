#pragma once

#include "core/sequence_lock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace telegate {

/// What went wrong last, in words.
///
/// Threads: store() one writer; load() any, without a lock.
/// Limits:  bytes_max; a longer text is cut where a UTF-8 character begins.
/// Failure: none. load() waits, without a lock, for a change in progress.
class ErrorText {
  public:
    static constexpr std::size_t bytes_max = 160;

    void store(std::string_view text) noexcept;
    [[nodiscard]] std::string load() const;

  private:
    static constexpr std::size_t words = bytes_max / sizeof(std::uint64_t);
    using Words = std::array<std::uint64_t, words>;

    Words last_{};  // the writer's
    std::size_t last_bytes_ = 0;
    SequenceLock lock_;
    std::atomic<std::size_t> bytes_{0};
    std::array<std::atomic<std::uint64_t>, words> words_{};
};

}  // namespace telegate
