#pragma once

#include "core/bytes.hpp"
#include "core/limits.hpp"
#include "session/outbox.hpp"
#include "transport/stream.hpp"
#include "zmtp/curve.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace telegate {

/// Writes one session's commands and messages to its stream: few large gather writes, whole messages, commands between
/// them; sealed one by one when the session has a cipher.
///
/// Threads: the reactor's.
/// Limits:  control_bytes_max of commands; with a cipher, one buffer of sealed messages: sealed_bytes_usual, or one
///          message that is larger, until that is written.
/// Failure: add_control() refuses over its limit; write() gives the stream's error, or throws std::bad_alloc.
class Sender {
  public:
    explicit Sender(Outbox& outbox) noexcept : outbox_(outbox) {}

    /// The handshake is done: messages go out, all of them sealed unless `cipher` is null. What was added before goes
    /// out first, as it is.
    void begin_messages(zmtp::CurveCipher* cipher) noexcept;

    /// Wire bytes of the handshake, as they are. No limit: ours alone.
    void add_raw(Bytes wire);
    /// One whole command frame, to go out before the next message. False when too much waits already.
    [[nodiscard]] bool add_control(Bytes wire);
    /// Whether commands wait.
    [[nodiscard]] bool has_control() const noexcept { return !control_.empty() || !commands_.empty(); }

    enum class Status : std::uint8_t {
        done,     // nothing is left to write
        full,     // the stream takes no more now
        partial,  // the budget is used up
        failed,   // error()
    };
    /// Writes up to about `budget` bytes.
    [[nodiscard]] Status write(Stream& stream, std::size_t budget);

    [[nodiscard]] bool empty() const noexcept;
    /// Whether a message is partly written.
    [[nodiscard]] bool is_within_message() const noexcept;
    [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_; }
    [[nodiscard]] int error() const noexcept { return error_; }

  private:
    static constexpr std::size_t parts_max = 64;
    static constexpr std::size_t sealed_bytes_usual = 64 * 1024;
    static constexpr std::size_t sealed_bytes_kept = 4 * 1024;  // in a buffer that is empty

    static_assert(sealed_bytes_usual <= limits::rest_bytes_max, "what is sealed can be set aside, or is one message");

    /// Where a sealed message ends in sealed_, and what it takes in the backlog.
    struct Sealed {
        std::size_t end;
        std::size_t wire_bytes;
    };

    [[nodiscard]] std::size_t gather(std::span<StreamPart> parts) const noexcept;
    void written(std::size_t bytes);
    void sealed_written(std::size_t bytes);
    void seal_next();
    [[nodiscard]] bool seal_run(Bytes wire, std::size_t& claimed);
    void seal_frames(Bytes wire);
    void make_room(std::size_t bytes);

    Outbox& outbox_;
    zmtp::CurveCipher* cipher_ = nullptr;
    bool messages_ = false;           // the handshake is done
    std::vector<std::byte> control_;  // goes out as it is, at a message boundary
    std::size_t control_sent_ = 0;
    std::vector<std::byte> commands_;  // to be sealed; with a cipher only
    std::unique_ptr<std::byte[]> sealed_;
    std::size_t sealed_capacity_ = 0;
    std::size_t sealed_bytes_ = 0;
    std::size_t sealed_sent_ = 0;
    std::size_t sealed_commands_bytes_ = 0;  // in front of the messages
    std::vector<Sealed> sealed_messages_;
    std::size_t sealed_messages_sent_ = 0;
    std::uint64_t bytes_written_ = 0;
    int error_ = 0;
};

}  // namespace telegate
