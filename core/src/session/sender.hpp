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
/// them. With a cipher, seals each frame.
///
/// Threads: the reactor's thread.
/// Limits: control_bytes_max of commands; with a cipher, one buffer of sealed messages: sealed_bytes_usual, or one
/// larger message until it is written.
/// Failure: add_control() refuses commands over its limit; write() returns the stream's error or throws std::bad_alloc.
class Sender {
  public:
    explicit Sender(Outbox& outbox) noexcept : outbox_(outbox) {}

    /// Starts sending messages, because the handshake is done. All are sealed unless `cipher` is null. Data added
    /// before is sent first, unchanged.
    void begin_messages(zmtp::CurveCipher* cipher) noexcept;

    /// Adds wire bytes of the handshake, which are sent unchanged. There is no limit, because only we produce them.
    void add_raw(Bytes wire);
    /// Adds one whole command frame, to be sent before the next message. Returns false if too many bytes are already
    /// pending.
    [[nodiscard]] bool add_control(Bytes wire);
    /// Returns whether commands are pending.
    [[nodiscard]] bool has_control() const noexcept { return !control_.empty() || !commands_.empty(); }

    enum class Status : std::uint8_t {
        done,     // nothing is left to write
        full,     // the stream accepts no more now
        partial,  // the budget is used up
        failed,   // see error()
    };
    /// Writes up to about `budget` bytes.
    [[nodiscard]] Status write(Stream& stream, std::size_t budget);

    [[nodiscard]] bool empty() const noexcept;
    /// Returns whether a message is partly written.
    [[nodiscard]] bool is_within_message() const noexcept;
    [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_; }
    [[nodiscard]] int error() const noexcept { return error_; }

  private:
    static constexpr std::size_t parts_max = 64;
    static constexpr std::size_t sealed_bytes_usual = 64 * 1024;
    static constexpr std::size_t sealed_bytes_kept = 4 * 1024;  // in an empty buffer

    static_assert(sealed_bytes_usual <= limits::rest_bytes_max, "sealed data can be copied, or is one message");

    /// The end of a sealed message in sealed_, and its size in the backlog.
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
    std::vector<std::byte> control_;  // sent unchanged, at a message boundary
    std::size_t control_sent_ = 0;
    std::vector<std::byte> commands_;  // to be sealed; only with a cipher
    std::unique_ptr<std::byte[]> sealed_;
    std::size_t sealed_capacity_ = 0;
    std::size_t sealed_bytes_ = 0;
    std::size_t sealed_sent_ = 0;
    std::size_t sealed_commands_bytes_ = 0;  // before the messages
    std::vector<Sealed> sealed_messages_;
    std::size_t sealed_messages_sent_ = 0;
    std::uint64_t bytes_written_ = 0;
    int error_ = 0;
};

}  // namespace telegate
