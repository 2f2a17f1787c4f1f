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

/// Cuts one peer's bytes, after the handshake, into whole messages and commands, in place. Pure.
///
/// Threads: one.
/// Limits:  message_bytes_max and frames_per_message_max for one message, commands between its frames included in its
///          bytes; command_bytes_max for one command; memory of its own for the frames of one message that has not
///          arrived whole.
/// Failure: after a violation every further take() is one; fault() names the first. Of an unfinished message nothing is
///          ever seen. May throw std::bad_alloc.
class Receiver {
  public:
    enum class Status : std::uint8_t {
        need_more,    // nothing whole is left in the input
        out_of_turn,  // the budget of frames is used up
        command,      // see command(); go on with take()
        violation,
    };

    Receiver(std::size_t message_bytes_max, std::size_t frames_per_message_max);

    /// From now on every frame is a CURVE MESSAGE.
    void set_cipher(zmtp::CurveCipher* cipher) noexcept { cipher_ = cipher; }

    /// Adds whole messages from the front of `input` to `batch`, until one of the statuses holds. Each frame taken
    /// costs one of `frames_budget`. Frames in the batch lie in `input`.
    [[nodiscard]] Status take(Input& input, MessageBatch& batch, std::size_t& frames_budget);

    /// Whether the input ends within a message, or holds something that take() has not come to.
    [[nodiscard]] bool has_unfinished(const Input& input) const noexcept { return input.unread().size() > taken_; }

    /// After Status::command: a whole command frame's body. Lasts as long as the frames in the batch.
    [[nodiscard]] Bytes command() const noexcept { return command_; }
    /// In words; "..." of the peer's never.
    [[nodiscard]] std::string_view fault() const noexcept { return fault_; }

  private:
    struct Span {
        std::size_t begin;  // from the front of the message
        std::size_t bytes;
    };
    struct Header {
        unsigned flags;
        std::size_t bytes;
        std::uint64_t body_bytes;
    };
    /// A frame that has arrived whole.
    struct Arrived {
        unsigned flags;  // more or command
        std::span<std::byte> body;
    };

    // In line, since it is called once for each batch.
    [[nodiscard, gnu::always_inline]] inline Status scan(std::span<std::byte> unread, MessageBatch& batch,
                                                         std::size_t& frames_budget);
    [[nodiscard]] std::size_t take_run(std::span<std::byte> unread, std::size_t at, MessageBatch& batch,
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
    std::size_t taken_ = 0;        // bytes of whole messages and commands at the front of what is unread
    std::size_t scanned_ = 0;      // bytes behind that which were understood: of the unfinished message
    std::vector<Span> set_aside_;  // its frames, when it was not whole by the end of a take()
    std::size_t frames_ = 0;       // how many it has, set aside or in the batch
    Bytes command_;
    std::string_view fault_;
};

}  // namespace telegate
