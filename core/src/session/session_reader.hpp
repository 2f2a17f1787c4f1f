#pragma once

#include "buffers/input.hpp"
#include "core/bytes.hpp"
#include "core/message.hpp"
#include "core/socket_options.hpp"
#include "session/receiver.hpp"
#include "transport/stream.hpp"
#include "zmtp/curve.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telegate {

/// The reading half of a session: reads from the stream within the budgets of an event-loop iteration and splits the
/// data into messages and commands.
///
/// Threads: the reactor's thread.
/// Limits: those of Receiver; read_bytes_per_turn and frames_per_turn between two calls of begin_turn().
/// Failure: reported as an Outcome; may throw std::bad_alloc.
class SessionReader {
  public:
    SessionReader(Stream& stream, BufferPool& buffers, const SocketOptions& options)
        : stream_(stream), input_(buffers), receiver_(options.message_bytes_max, options.frames_per_message_max) {}

    enum class Outcome : std::uint8_t {
        got,        // read(): bytes; fill(): everything in the input, and the stream probably has no more
        more,       // the budget is used up, or the batch must be taken before the input can be reused
        command,    // see command()
        violation,  // see fault()
        empty,      // the stream has no data now
        end,        // end of the stream
        error,      // see error()
    };

    /// Resets the budgets for a new event-loop iteration.
    void begin_turn() noexcept;
    /// Reads one piece. Returns got, empty, end or error.
    [[nodiscard]] Outcome read();
    /// Adds whole messages to `batch`, which had `before` messages when this call began. With `reads_on`, returns
    /// `more` instead of `got`, so that the stream is read again.
    [[nodiscard]] Outcome fill(MessageBatch& batch, std::size_t before, bool reads_on);

    [[nodiscard]] bool has_bytes_left() const noexcept { return bytes_left_ > 0; }
    [[nodiscard]] Bytes command() const noexcept { return receiver_.command(); }
    [[nodiscard]] std::string_view fault() const noexcept { return receiver_.fault(); }
    [[nodiscard]] int error() const noexcept { return error_; }

    // For the handshake, and for discarding input.
    [[nodiscard]] Bytes unread() const noexcept { return input_.unread(); }
    void consume(std::size_t bytes) { input_.consume(bytes); }
    void release() { input_.release(); }
    void set_cipher(zmtp::CurveCipher* cipher) noexcept { receiver_.set_cipher(cipher); }

    /// Records that the owner is notified of data to receive. Returns false if it was already notified and has not
    /// received since.
    [[nodiscard]] bool mark_notified() noexcept;
    [[nodiscard]] bool is_notified() const noexcept { return notice_ != Notice::none; }
    /// Records that the owner receives the data.
    void begin_receive() noexcept { notice_ = Notice::none; }
    /// Called at intervals. Returns whether the owner was notified before the previous call, has not received since,
    /// and nothing was read ahead yet.
    [[nodiscard]] bool is_overdue() noexcept;
    /// Returns the messages that were read ahead for an owner that is overdue to receive. The next Session::receive()
    /// delivers them.
    [[nodiscard]] MessageBatch& ahead() noexcept { return ahead_; }
    [[nodiscard]] bool has_ahead() const noexcept { return !ahead_.empty(); }

    void count_received(std::size_t messages) noexcept { received_ += messages; }
    [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
    [[nodiscard]] std::uint64_t bytes_received() const noexcept { return bytes_received_; }
    /// Returns whether a message or command has arrived.
    [[nodiscard]] bool has_heard() const noexcept { return has_heard_; }
    /// Returns whether data has arrived that was not received by the owner.
    [[nodiscard]] bool has_untaken() const noexcept;

  private:
    enum class Notice : std::uint8_t { none, notified, overdue };

    Stream& stream_;
    Input input_;
    Receiver receiver_;
    MessageBatch ahead_;
    Notice notice_ = Notice::none;
    bool has_heard_ = false;
    bool has_more_ = false;  // the stream has more data, as of the last read
    int error_ = 0;
    std::size_t bytes_left_ = 0;   // of this iteration's budget
    std::size_t frames_left_ = 0;  // of this iteration's budget
    std::uint64_t received_ = 0;   // messages
    std::uint64_t bytes_received_ = 0;
};

}  // namespace telegate
