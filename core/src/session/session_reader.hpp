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

/// The reading half of a session: takes what the stream has, within the budgets of a turn, and cuts it into messages
/// and commands.
///
/// Threads: the reactor's.
/// Limits:  those of Receiver; read_bytes_per_turn and frames_per_turn between two begin_turn().
/// Failure: outcomes; may throw std::bad_alloc.
class SessionReader {
  public:
    SessionReader(Stream& stream, BufferPool& buffers, const SocketOptions& options)
        : stream_(stream), input_(buffers), receiver_(options.message_bytes_max, options.frames_per_message_max) {}

    enum class Outcome : std::uint8_t {
        got,        // read(): bytes; fill(): all that is in the input, and the stream has probably no more
        more,       // the budget is used up, or the batch has to be taken before the input can be read into
        command,    // command()
        violation,  // fault()
        empty,      // the stream has nothing now
        end,        // of the stream
        error,      // error()
    };

    /// Gives the budgets of a turn.
    void begin_turn() noexcept;
    /// Reads one piece: got, empty, end or error.
    [[nodiscard]] Outcome read();
    /// Adds whole messages to `batch`, which had `before` when this take began. With `reads_on` asks the stream again
    /// rather than return `got`.
    [[nodiscard]] Outcome fill(MessageBatch& batch, std::size_t before, bool reads_on);

    [[nodiscard]] bool has_bytes_left() const noexcept { return bytes_left_ > 0; }
    [[nodiscard]] Bytes command() const noexcept { return receiver_.command(); }
    [[nodiscard]] std::string_view fault() const noexcept { return receiver_.fault(); }
    [[nodiscard]] int error() const noexcept { return error_; }

    // The handshake, and input that nobody wants, are taken from here.
    [[nodiscard]] Bytes unread() const noexcept { return input_.unread(); }
    void consume(std::size_t bytes) { input_.consume(bytes); }
    void release() { input_.release(); }
    void set_cipher(zmtp::CurveCipher* cipher) noexcept { receiver_.set_cipher(cipher); }

    /// The owner is told once that there is something to take. False when it has been told and has not taken.
    [[nodiscard]] bool tell() noexcept;
    [[nodiscard]] bool is_told() const noexcept { return notice_ != Notice::none; }
    /// The owner takes.
    void begin_take() noexcept { notice_ = Notice::none; }
    /// Called now and then: whether the owner has been told since before the last call and nothing was looked at yet.
    [[nodiscard]] bool is_overdue() noexcept;
    /// For the next take(), of what an owner that does not take is overdue to take.
    [[nodiscard]] MessageBatch& ahead() noexcept { return ahead_; }
    [[nodiscard]] bool has_ahead() const noexcept { return !ahead_.empty(); }

    void count_received(std::size_t messages) noexcept { received_ += messages; }
    [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
    [[nodiscard]] std::uint64_t bytes_received() const noexcept { return bytes_received_; }
    /// Whether a message or command has come.
    [[nodiscard]] bool has_heard() const noexcept { return has_heard_; }
    /// Whether something has arrived that was not taken.
    [[nodiscard]] bool has_untaken() const noexcept;

  private:
    enum class Notice : std::uint8_t { none, told, overdue };

    Stream& stream_;
    Input input_;
    Receiver receiver_;
    MessageBatch ahead_;
    Notice notice_ = Notice::none;
    bool has_heard_ = false;
    bool has_more_ = false;  // the stream, as of the last read
    int error_ = 0;
    std::size_t bytes_left_ = 0;   // of this turn's budget
    std::size_t frames_left_ = 0;  // of this turn's budget
    std::uint64_t received_ = 0;   // messages
    std::uint64_t bytes_received_ = 0;
};

}  // namespace telegate
