#pragma once

#include "buffers/input.hpp"
#include "core/message.hpp"
#include "zmtp/curve.hpp"
#include "zmtp/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace telegate {

/// Splits the bytes of one peer, after the handshake, into whole messages and commands, in place. Pure.
///
/// Threads: one.
/// Limits: message_bytes_max and frames_per_message_max for one message; commands between its frames count toward its
/// bytes. command_bytes_max for one command. Uses its own memory to list the frames of one message that has not arrived
/// completely.
/// Failure: after a violation every further decode() reports one; fault() names the first. No part of an unfinished
/// message is ever delivered. May throw std::bad_alloc.
class Receiver {
  public:
    enum class Status : std::uint8_t {
        need_more,    // no complete message or command is left in the input
        out_of_turn,  // the budget of frames is used up
        command,      // see command(); call decode() again to continue
        violation,
    };

    Receiver(std::size_t message_bytes_max, std::size_t frames_per_message_max);

    /// Expects every frame from now on to be a CURVE MESSAGE.
    void set_cipher(zmtp::CurveCipher* cipher) noexcept { cipher_ = cipher; }

    /// Adds whole messages from the front of `input` to `batch`, until one of the statuses applies. Each frame taken
    /// uses up one of `frames_budget`. Frames in the batch refer to `input`.
    [[nodiscard]] Status decode(Input& input, MessageBatch& batch, std::size_t& frames_budget);

    /// Returns whether the input ends within a message or holds data that decode() has not reached.
    [[nodiscard]] bool has_unfinished(const Input& input) const noexcept { return input.unread().size() > taken_; }

    /// After Status::command: returns the body of a whole command frame. Valid as long as the frames in the batch.
    [[nodiscard]] Bytes command() const noexcept { return command_; }
    /// Returns the reason as a fixed text that never contains bytes from the peer.
    [[nodiscard]] std::string_view fault() const noexcept { return fault_; }

  private:
    struct Span {
        std::size_t begin;  // from the start of the message
        std::size_t bytes;
    };
    struct Header {
        unsigned flags;
        std::size_t bytes;
        std::uint64_t body_bytes;
    };
    /// A frame that has arrived completely.
    struct Arrived {
        unsigned flags;  // more or command
        std::span<std::byte> body;
    };

    // Inline, because it is called once for each batch.
    [[nodiscard, gnu::always_inline]] inline Status scan(std::span<std::byte> unread, MessageBatch& batch,
                                                         std::size_t& frames_budget);
    [[nodiscard]] std::size_t decode_run(std::span<std::byte> unread, std::size_t at, MessageBatch& batch,
                                         std::size_t& frames_budget) noexcept;
    [[nodiscard]] bool read_unusual(std::span<const std::byte> from, Header& header) noexcept;
    [[nodiscard]] bool is_long_without_flag(std::span<const std::byte> from) const noexcept;
    [[nodiscard]] bool is_lone_command(const Header& header) const noexcept;
    [[nodiscard]] bool open(Arrived& frame) noexcept;
    [[nodiscard]] bool add_frame(const std::byte* message, const Arrived& frame, MessageBatch& batch);
    void finish_message(const std::byte* message, MessageBatch& batch);
    void set_aside(const std::byte* message, MessageBatch& batch);
    bool fail(std::string_view fault) noexcept;

    const std::size_t message_bytes_max_;
    const std::size_t frames_per_message_max_;
    zmtp::CurveCipher* cipher_ = nullptr;
    std::size_t taken_ = 0;        // bytes of whole messages and commands at the front of the unread input
    std::size_t scanned_ = 0;      // bytes after those that were parsed: of the unfinished message
    std::vector<Span> set_aside_;  // its frames, if it was unfinished at the end of a decode()
    std::size_t frames_ = 0;       // number of its frames, stored or in the batch
    Bytes command_;
    std::string_view fault_;
};

}  // namespace telegate
