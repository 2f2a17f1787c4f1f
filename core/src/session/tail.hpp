#pragma once

#include "buffers/segment_log.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace telegate {

class Outbox;

/// The newest messages of a log, all for the same readers, that the readers' outboxes do not know of yet.
///
/// The log's owner gives one message to each outbox and opens a tail behind it. What follows for the same readers only
/// moves the tail's end, however many they are. Whoever looks into one of the outboxes, or changes it, settles the tail
/// first (see Outbox), so that nobody ever sees the difference. While a tail is open, the last run of each reader's
/// backlog ends where the tail begins, and so does what the log counts as written.
///
/// Threads: the log's. Limits: the segment being filled. Failure: none.
class Tail {
  public:
    /// Begins behind the last message of `log`, which all of `readers` have got. Closed; what is given lasts until it
    /// is settled. The first `bytes_max` bytes, or as many as the segment holds, are for has_room().
    void open(SegmentLog& log, std::span<Outbox* const> readers, std::size_t bytes_max) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return next_ != nullptr; }
    /// Gives what was added to the readers' outboxes and closes.
    void settle() noexcept {
        if (is_open()) {
            close();
        }
    }

    /// Whether a message of so many bytes, one at least, may be written to next() and added. Never while closed.
    [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
        return static_cast<std::ptrdiff_t>(bytes) <= limit_ - next_;  // which is negative after more was added
    }
    /// The same, whatever open() was told.
    [[nodiscard]] bool fits(std::size_t bytes) const noexcept {
        return bytes <= static_cast<std::size_t>(segment_end_ - next_);
    }
    [[nodiscard]] std::byte* next() const noexcept { return next_; }
    void add(std::size_t bytes) noexcept {
        next_ += bytes;
        ++messages_;
    }

    /// Added and not settled yet.
    [[nodiscard]] std::size_t open_bytes() const noexcept { return static_cast<std::size_t>(next_ - begin_); }
    /// Added so far, in all.
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_settled_ + open_bytes(); }

  private:
    void close() noexcept;

    std::byte* next_ = nullptr;  // null: closed, as are the three below
    std::byte* limit_ = nullptr;
    std::byte* segment_end_ = nullptr;
    std::byte* begin_ = nullptr;
    std::uint64_t messages_ = 0;
    std::uint64_t messages_settled_ = 0;
    std::uint64_t bytes_settled_ = 0;
    SegmentLog* log_ = nullptr;
    std::span<Outbox* const> readers_;
};

}  // namespace telegate
