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

/// The writing half of a session: when the stream may be written to, and how that went.
///
/// Threads: the reactor's.
/// Limits:  those of Sender; write_bytes_per_turn in one write().
/// Failure: after an error of the stream nothing more is written; may throw std::bad_alloc.
class SessionWriter {
  public:
    using Time = std::chrono::steady_clock::time_point;

    SessionWriter(Stream& stream, Outbox& outbox) noexcept : stream_(stream), outbox_(outbox), sender_(outbox) {}

    enum class State : std::uint8_t {
        ready,
        waiting,  // for the stream, to be writable
        ended,    // by us
        failed,   // error(); the stream takes no more, but may have something to read
    };
    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] bool is_over() const noexcept { return state_ == State::ended || state_ == State::failed; }
    [[nodiscard]] int error() const noexcept { return error_; }
    /// When it failed, or later: since when the owner has had time to read what is left.
    [[nodiscard]] Time failed_at() const noexcept { return failed_at_; }
    void set_failed_at(Time time) noexcept { failed_at_ = time; }

    /// The handshake is done; see Sender.
    void begin_messages(zmtp::CurveCipher* cipher) noexcept;
    void add_raw(Bytes wire) { sender_.add_raw(wire); }
    /// A command frame that `append` makes. Returns its bytes; 0 when too much waits already.
    template <class Append>
    [[nodiscard]] std::size_t add_command(const Append& append);
    [[nodiscard]] bool has_control() const noexcept { return sender_.has_control(); }

    /// Somebody sees to it that write() comes.
    void mark_dirty() noexcept { is_dirty_ = true; }
    [[nodiscard]] bool is_dirty() const noexcept { return is_dirty_; }
    void mark_clean() noexcept { is_dirty_ = false; }
    /// The stream is writable.
    void end_wait() noexcept;
    /// Whether write() may be called now.
    [[nodiscard]] bool may_write() noexcept;
    enum class Written : std::uint8_t { all, part, failed };
    /// Writes what the stream takes, and has it tell when it takes the rest. `bytes_max`: of the backlog.
    [[nodiscard]] Written write(std::size_t bytes_max);
    /// Whether the backlog was over half of `bytes_max`, or refused a message, and is not any more.
    [[nodiscard]] bool has_room_again(std::size_t bytes_max) const noexcept;
    void end_room() noexcept;

    /// The peer reads what was written, then the end.
    void end() noexcept;
    /// The connection is over. Returns whether it was cut in the middle of a message.
    bool close() noexcept;
    /// False when it was cut in the middle of a message, and that was all there was since the handshake.
    [[nodiscard]] bool was_of_use() const noexcept { return !was_cut_ || outbox_.sent() > sent_before_; }

    /// Whether the peer's machine has received everything since `limit` ago, after end().
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
    int error_ = 0;
    std::uint64_t sent_before_ = 0;   // by the outbox, over earlier connections
    std::vector<std::byte> command_;  // being made
    Time failed_at_{};
    std::optional<Time> drained_{};  // the peer's machine has everything since then
};

template <class Append>
std::size_t SessionWriter::add_command(const Append& append) {
    command_.clear();
    append(command_);
    return sender_.add_control(command_) ? command_.size() : 0;
}

}  // namespace telegate
