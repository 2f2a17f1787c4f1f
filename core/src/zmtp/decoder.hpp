#pragma once

#include "zmtp/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace telegate::zmtp {

enum class FeedStatus : std::uint8_t { need_more, frame_ready, violation };

/// Splits a byte stream into frames. Pure: bytes in, frames out; how the bytes are split makes no difference.
///
/// Threads: one.
/// Limits: a body above frame_bytes_max is a violation before any byte of it is stored; memory grows only with bytes
/// that have arrived.
/// Failure: after a violation every further feed() reports one; fault() names the first.
class FrameDecoder {
  public:
    explicit FrameDecoder(std::uint64_t frame_bytes_max);

    /// Consumes from the front of `input` up to the end of one frame.
    [[nodiscard]] FeedStatus feed(Bytes& input);

    /// After frame_ready: returns the frame. Its body is in the `input` of feed(), or inside the decoder if it arrived
    /// in pieces. Valid until the next feed() or until the input's memory is reused.
    [[nodiscard]] const Frame& frame() const noexcept { return frame_; }

    /// After violation: returns the fault in a few words.
    [[nodiscard]] std::string_view fault() const noexcept { return fault_; }

  private:
    [[nodiscard]] FeedStatus feed_header(Bytes& input);
    [[nodiscard]] FeedStatus fail(std::string_view fault) noexcept;

    enum class Phase : std::uint8_t { header, body, failed };

    const std::uint64_t frame_bytes_max_;
    Phase phase_ = Phase::header;
    std::byte header_[frame_header_bytes_max]{};
    std::size_t header_bytes_ = 0;  // bytes of the header seen so far
    std::uint64_t body_bytes_ = 0;  // as declared
    std::vector<std::byte> body_;   // the part seen so far, if it arrived in pieces
    Frame frame_;
    std::string_view fault_;
};

}  // namespace telegate::zmtp
