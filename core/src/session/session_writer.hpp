#pragma once

#include "core/bytes.hpp"
#include "session/outbox.hpp"
#include "session/sender.hpp"
#include "transport/stream.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace telegate {

/// The writing half of a session: when the stream can be written to, and the result.
///
/// Threads: the reactor's thread.
/// Limits: those of Sender; write_bytes_per_turn in one write().
/// Failure: after an error of the stream nothing more is written; may throw std::bad_alloc.
class SessionWriter {
  public:
    using Time = std::chrono::steady_clock::time_point;

    SessionWriter(Stream& stream, Outbox& outbox) noexcept : stream_(stream), outbox_(outbox), sender_(outbox) {}

    enum class State : std::uint8_t {
        ready,
        waiting,  // for the stream to become writable
        ended,    // by us
        failed,   // see error(); the stream accepts no more data, but may have data to read
    };
    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] bool is_over() const noexcept { return state_ == State::ended || state_ == State::failed; }
    [[nodiscard]] int error() const noexcept { return sender_.error(); }
    /// Returns when it failed, or a later time from set_failed_at(). The owner's time to read the remaining data starts
    /// there.
    [[nodiscard]] Time failed_at() const noexcept { return failed_at_; }
    void set_failed_at(Time time) noexcept { failed_at_ = time; }

    /// Starts sending messages, because the handshake is done; see Sender.
    void begin_messages(zmtp::CurveCipher* cipher) noexcept;
    void add_raw(Bytes wire) { sender_.add_raw(wire); }
    /// Adds the command frame that `append` produces. Returns its size in bytes; 0 if too much is already pending.
    template <class Append>
    [[nodiscard]] std::size_t add_command(const Append& append);
    [[nodiscard]] bool has_control() const noexcept { return sender_.has_control(); }

    /// Records that a write() is scheduled.
    void mark_dirty() noexcept { is_dirty_ = true; }
    [[nodiscard]] bool is_dirty() const noexcept { return is_dirty_; }
    void mark_clean() noexcept { is_dirty_ = false; }
    /// Records that the stream is writable.
    void end_wait() noexcept;
    /// Returns whether write() may be called now.
    [[nodiscard]] bool may_write() noexcept;
    /// Writes as much as the stream accepts and requests a notification for the rest. `bytes_max`: the limit of the
    /// backlog.
    [[nodiscard]] Sender::Status write(std::size_t bytes_max);
    /// Returns whether the backlog was over half of `bytes_max`, or refused a message, and no longer is.
    [[nodiscard]] bool has_room_again(std::size_t bytes_max) const noexcept;
    void end_room() noexcept;

    /// Ends the stream after the data that was written.
    void end() noexcept;
    /// Ends the connection. Returns whether it was closed in the middle of a message.
    bool close() noexcept;
    /// Returns false if the connection was closed in the middle of a message and nothing else was sent since the
    /// handshake.
    [[nodiscard]] bool was_of_use() const noexcept { return !was_cut_ || outbox_.sent() > sent_before_; }

    /// After end(): returns whether the peer's machine received everything at least `limit` ago.
    [[nodiscard]] bool is_drained(Time now, std::chrono::milliseconds limit);
    [[nodiscard]] std::uint64_t bytes_written() const noexcept { return sender_.bytes_written(); }

  private:
    Stream& stream_;
    Outbox& outbox_;
    Sender sender_;
    State state_ = State::ready;
    bool is_dirty_ = false;
    bool was_half_full_ = false;  // since end_room()
    bool was_cut_ = false;
    std::uint64_t sent_before_ = 0;   // messages sent by the outbox over earlier connections
    std::vector<std::byte> command_;  // being built
    Time failed_at_{};
    std::optional<Time> drained_{};  // since when the peer's machine has had everything
};

template <class Append>
std::size_t SessionWriter::add_command(const Append& append) {
    command_.clear();
    append(command_);
    return sender_.add_control(command_) ? command_.size() : 0;
}

}  // namespace telegate
