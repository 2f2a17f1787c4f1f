#pragma once

#include "buffers/segment_log.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace telegate {

class Outbox;

/// The newest messages of a log, all for the same readers, which the readers' outboxes do not contain yet.
///
/// The log's owner adds one message to each outbox and opens a cursor after it. Further messages for the same readers
/// only move the cursor's end, regardless of the number of readers. Every function that reads or changes one of the
/// outboxes settles the cursor first (see Outbox), so the difference is never visible. While a cursor is open, the last
/// run of each reader's backlog ends where the cursor begins, and so does the part of the log that counts as written.
///
/// Threads: the log's thread. Limits: the segment being filled. Failure: none.
class WriteCursor {
  public:
    /// Opens the cursor after the last message of `log`, which all of `readers` have received. It must be closed. The
    /// arguments must stay valid until it is settled. has_room() allows the first `bytes_max` bytes, or as many as the
    /// segment holds.
    void open(SegmentLog& log, std::span<Outbox* const> readers, std::size_t bytes_max) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return next_ != nullptr; }
    /// Passes the added messages to the readers' outboxes and closes the cursor.
    void settle() noexcept {
        if (is_open()) {
            close();
        }
    }

    /// Returns whether a message of `bytes` bytes, at least one, may be written to next() and added. Always false while
    /// closed.
    [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
        return static_cast<std::ptrdiff_t>(bytes) <= limit_ - next_;  // negative after more was added
    }
    /// Like has_room(), but ignores the limit of open().
    [[nodiscard]] bool fits(std::size_t bytes) const noexcept {
        return bytes <= static_cast<std::size_t>(segment_end_ - next_);
    }
    [[nodiscard]] std::byte* next() const noexcept { return next_; }
    void add(std::size_t bytes) noexcept {
        next_ += bytes;
        ++messages_;
    }
    /// Like add(), and lists the samples of the message. fits() must have allowed sizeof(LoggedSamples) more bytes.
    /// has_room() is then false until the cursor is opened again.
    void add(std::size_t bytes, const SampleRange& samples) noexcept {
        segment_end_ -= sizeof(LoggedSamples);
        list_samples(segment_begin_, static_cast<std::size_t>(segment_end_ - segment_begin_),
                     static_cast<std::size_t>(next_ - segment_begin_), samples);
        add(bytes);
        limit_ = next_;
    }

    /// Returns the bytes added and not settled yet.
    [[nodiscard]] std::size_t open_bytes() const noexcept { return static_cast<std::size_t>(next_ - begin_); }
    /// Returns the bytes of the segment that were used since the cursor was opened, including the listed samples.
    [[nodiscard]] std::size_t taken_bytes() const noexcept {
        return is_open()
                   ? open_bytes() + log_->segment()->limit - static_cast<std::size_t>(segment_end_ - segment_begin_)
                   : 0;
    }
    /// Returns the total added so far.
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_settled_ + open_bytes(); }

  private:
    void close() noexcept;

    std::byte* next_ = nullptr;  // null while closed, like the four below
    std::byte* limit_ = nullptr;
    std::byte* segment_end_ = nullptr;  // of the messages
    std::byte* segment_begin_ = nullptr;
    std::byte* begin_ = nullptr;
    std::uint64_t messages_ = 0;
    std::uint64_t messages_settled_ = 0;
    std::uint64_t bytes_settled_ = 0;
    SegmentLog* log_ = nullptr;
    std::span<Outbox* const> readers_;
};

}  // namespace telegate
