#include "zmtp/decoder.hpp"

#include "core/assert.hpp"
#include "core/endian.hpp"

#include <algorithm>
#include <limits>

namespace telegate::zmtp {

namespace {

/// Capacity that the decoder keeps between frames. Subscriptions and commands fit; the memory of a larger frame is
/// freed.
constexpr std::size_t kept_bytes_max = 1024;

[[nodiscard]] constexpr bool is_long(std::byte flags) noexcept {
    return (flags & std::byte{frame_flag::long_size}) != std::byte{0};
}

/// Returns the size of the header, as far as its first `seen` bytes determine it.
[[nodiscard]] constexpr std::size_t header_bytes_wanted(const std::byte* header, std::size_t seen) noexcept {
    if (seen == 0) {
        return 1;
    }
    return is_long(header[0]) ? frame_header_bytes_max : 2;
}

/// Reserves memory for `needed` bytes. Doubles as a vector does, so that single bytes do not cost a copy each, but
/// never exceeds the declared size.
void grow(std::vector<std::byte>& body, std::size_t needed, std::size_t declared) {
    if (body.capacity() < needed) {
        body.reserve(std::min(declared, std::max(needed, 2 * body.size())));
    }
}

}  // namespace

FrameDecoder::FrameDecoder(std::uint64_t frame_bytes_max) : frame_bytes_max_(frame_bytes_max) {
    TELEGATE_ASSERT(frame_bytes_max <= static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()));
}

FeedStatus FrameDecoder::feed(Bytes& input) {
    frame_ = Frame{};
    if (phase_ == Phase::failed) {
        return FeedStatus::violation;
    }
    if (phase_ == Phase::header) {
        const FeedStatus status = feed_header(input);
        if (phase_ != Phase::body) {
            return status;
        }
    }

    const auto declared = static_cast<std::size_t>(body_bytes_);  // at most frame_bytes_max_, which fits
    const std::size_t taken = std::min(declared - body_.size(), input.size());
    Bytes body = input.first(taken);
    if (taken < declared) {
        grow(body_, body_.size() + taken, declared);
        body_.insert(body_.end(), body.begin(), body.end());
        body = body_;
    }
    input = input.subspan(taken);
    if (body.size() < declared) {
        return FeedStatus::need_more;
    }
    // The form of the size no longer matters once it is read, so only more and command remain.
    const auto flags = std::to_integer<std::uint8_t>(header_[0] & ~std::byte{frame_flag::long_size});
    frame_ = Frame{flags, body};
    phase_ = Phase::header;
    header_bytes_ = 0;
    return FeedStatus::frame_ready;
}

/// Continues with Phase::body if the header is complete and its size is allowed.
FeedStatus FrameDecoder::feed_header(Bytes& input) {
    if (header_bytes_ == 0) {
        body_.clear();
        if (body_.capacity() > kept_bytes_max) {
            body_ = std::vector<std::byte>();  // a bare {} would keep the memory
        }
    }
    while (header_bytes_ < header_bytes_wanted(header_, header_bytes_)) {
        if (input.empty()) {
            return FeedStatus::need_more;
        }
        header_[header_bytes_++] = input.front();
        input = input.subspan(1);
        const std::string_view fault = flags_fault(std::to_integer<unsigned>(header_[0]));
        if (!fault.empty()) {
            return fail(fault);
        }
    }

    body_bytes_ =
        is_long(header_[0]) ? load_big_endian<std::uint64_t>(header_ + 1) : std::to_integer<std::uint64_t>(header_[1]);
    if ((body_bytes_ >> 63U) != 0) {
        return fail("frame size with bit 63 set");
    }
    if (body_bytes_ > frame_bytes_max_) {
        return fail("frame over the size limit");
    }
    phase_ = Phase::body;
    return FeedStatus::need_more;
}

FeedStatus FrameDecoder::fail(std::string_view fault) noexcept {
    phase_ = Phase::failed;
    fault_ = fault;
    body_ = std::vector<std::byte>();
    return FeedStatus::violation;
}

}  // namespace telegate::zmtp
