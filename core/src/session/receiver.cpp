#include "session/receiver.hpp"

#include "core/endian.hpp"
#include "core/limits.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace telegate {
namespace {

using namespace zmtp;

/// Capacity kept for the frames of unfinished messages. Telemetry has two frames per message; a longer list is freed.
constexpr std::size_t set_aside_kept = 64;

/// Most frames are larger, so the batch is rarely too small for the data that has arrived.
constexpr std::size_t usual_frame_bytes = 16;

constexpr std::size_t short_header_bytes = 2;
constexpr std::size_t short_frame_bytes_max = short_header_bytes + short_body_bytes_max;

/// Minimum number of bytes for which a separate loop pays off.
constexpr std::size_t certain_bytes_min = 256;

/// Distance ahead of the current frame. The start of the next frame is known only when this one has been loaded, so a
/// processor without prefetching loads them one after another.
constexpr std::size_t prefetch_bytes = 1024;

/// Decodes short frames that are known to be complete and to fit, as long as they begin before `end`. Returns the end
/// of the frames decoded, which is before `end` if something else follows.
inline std::byte* decode_certain(std::byte* next, const std::byte* end, MessageBatch::Run& run) noexcept {
    while (next < end) {
        __builtin_prefetch(next + prefetch_bytes);
        const auto flags = std::to_integer<unsigned>(next[0]);
        const auto body_bytes = std::to_integer<std::size_t>(next[1]);
        if (flags > frame_flag::more) {
            break;
        }
        next += short_header_bytes;
        run.add_frame({next, body_bytes});
        next += body_bytes;
        if (flags == 0) {
            run.end_message();
        }
    }
    return next;
}

/// Like decode_certain(), for frames that may not be complete before `end` or may not fit.
inline std::byte* decode_checked(std::byte* next, const std::byte* end, MessageBatch::Run& run) noexcept {
    while (run.room() > 0) {
        const auto left = static_cast<std::size_t>(end - next);
        if (left < short_header_bytes || left - short_header_bytes < std::to_integer<std::size_t>(next[1])) {
            break;
        }
        std::byte* const after = decode_certain(next, next + 1, run);
        if (after == next) {
            break;
        }
        next = after;
    }
    return next;
}

/// Decodes one frame with a long size if it is next, complete and fits.
inline std::byte* decode_long(std::byte* next, const std::byte* end, MessageBatch::Run& run) noexcept {
    const auto left = static_cast<std::size_t>(end - next);
    if (run.room() == 0 || left < frame_header_bytes_max) {
        return next;
    }
    const auto flags = std::to_integer<unsigned>(next[0]);
    const auto claimed_bytes = load_big_endian<std::uint64_t>(next + 1);
    if ((flags | frame_flag::more) != (frame_flag::long_size | frame_flag::more) ||
        claimed_bytes > left - frame_header_bytes_max) {
        return next;
    }
    const auto body_bytes = static_cast<std::size_t>(claimed_bytes);
    next += frame_header_bytes_max;
    run.add_frame({next, body_bytes});
    if (flags == frame_flag::long_size) {
        run.end_message();
    }
    return next + body_bytes;
}

}  // namespace

Receiver::Receiver(std::size_t message_bytes_max, std::size_t frames_per_message_max)
    : message_bytes_max_(message_bytes_max), frames_per_message_max_(frames_per_message_max) {}

/// Moves taken_ past the last whole message or command, and scanned_ past the last whole frame.
Receiver::Status Receiver::scan(std::span<std::byte> unread, MessageBatch& batch, std::size_t& frames_budget) {
    batch.make_room(std::min(frames_budget, unread.size() / usual_frame_bytes));
    std::size_t at = scanned_;
    Status status = Status::need_more;
    for (;;) {
        if (cipher_ == nullptr && set_aside_.empty()) {
            at = decode_run(unread, at, batch, frames_budget);
        }
        if (at == unread.size()) {
            break;
        }
        if (frames_budget == 0) {
            status = Status::out_of_turn;
            break;
        }
        const std::span<std::byte> left = unread.subspan(at);
        Header header{std::to_integer<unsigned>(left[0]), 2, 0};
        if (left.size() < 2 || header.flags > frame_flag::more) {
            if (!read_unusual(left, header)) {
                break;
            }
        } else {
            header.body_bytes = std::to_integer<std::uint64_t>(left[1]);
        }
        const std::uint64_t message_bytes = at - taken_ + header.bytes + header.body_bytes;
        if (message_bytes > message_bytes_max_ && !is_lone_command(header)) {
            fail("message over the size limit");
            break;
        }
        if (left.size() - header.bytes < header.body_bytes) {
            break;
        }
        --frames_budget;
        Arrived frame{header.flags, left.subspan(header.bytes, static_cast<std::size_t>(header.body_bytes))};
        at += header.bytes + frame.body.size();
        if (cipher_ != nullptr && !open(frame)) {
            break;
        }
        if ((frame.flags & frame_flag::command) != 0) {
            command_ = frame.body;
            taken_ = frames_ == 0 ? at : taken_;
            status = Status::command;
            break;
        }
        if (!add_frame(unread.data() + taken_, frame, batch)) {
            break;
        }
        if ((frame.flags & frame_flag::more) == 0) {
            finish_message(unread.data() + taken_, batch);
            taken_ = at;
        }
    }
    scanned_ = at - taken_;
    return fault_.empty() ? status : Status::violation;
}

Receiver::Status Receiver::decode(Input& input, MessageBatch& batch, std::size_t& frames_budget) {
    if (!fault_.empty()) {
        return Status::violation;
    }
    const std::span<std::byte> unread = input.unread();
    taken_ = 0;
    const Status status = scan(unread, batch, frames_budget);
    if (status == Status::violation) {
        batch.rewind();
        set_aside_ = std::vector<Span>();
    } else if (frames_ > 0 && set_aside_.empty()) {
        set_aside(unread.data() + taken_, batch);
    }
    input.consume(taken_);
    return status;
}

/// Decodes whole frames of messages, one after another, starting at `at`, until something else follows or a limit is
/// reached. Returns their end. Telemetry consists of short frames, so these loops have a separate function with its own
/// registers.
[[gnu::noinline]] std::size_t Receiver::decode_run(std::span<std::byte> unread, std::size_t at, MessageBatch& batch,
                                                   std::size_t& frames_budget) noexcept {
    MessageBatch::Run run = batch.begin_run(std::min(frames_budget, frames_per_message_max_ - frames_));
    const std::size_t room = run.room();
    // No message that ends before this exceeds the size limit.
    std::byte* const end = unread.data() + taken_ + std::min(unread.size() - taken_, message_bytes_max_);
    std::byte* next = unread.data() + at;
    for (;;) {
        // A short frame is complete if it begins before the point from which the longest one would reach the end. Each
        // frame has a header, so twice as many bytes contain no more frame starts than there is space for.
        const auto left = static_cast<std::size_t>(end - next);
        const std::size_t certain =
            std::min(left - std::min(left, short_frame_bytes_max), short_header_bytes * run.room());
        if (certain < certain_bytes_min) {
            next = decode_checked(next, end, run);
        } else {
            std::byte* const certain_end = next + certain;
            next = decode_certain(next, certain_end, run);
            if (next >= certain_end) {
                continue;
            }
        }
        std::byte* const after = decode_long(next, end, run);
        if (after == next) {
            break;
        }
        next = after;
    }
    frames_budget -= room - run.room();
    const std::size_t messages_before = batch.size();
    batch.end_run(run);
    if (batch.size() > messages_before) {
        const Message message = batch[batch.size() - 1];
        const Bytes frame = message[message.size() - 1];
        taken_ = static_cast<std::size_t>(frame.data() + frame.size() - unread.data());
    }
    frames_ = batch.unfinished().size();
    return static_cast<std::size_t>(next - unread.data());
}

/// Reads a header that is long, of a command, truncated or wrong. Returns false if nothing more is known of it now.
bool Receiver::read_unusual(std::span<const std::byte> from, Header& header) noexcept {
    const std::string_view fault = flags_fault(header.flags);
    if (!fault.empty()) {
        return fail(fault);
    }
    if ((header.flags & frame_flag::long_size) != 0 || is_long_without_flag(from)) {
        header.bytes = frame_header_bytes_max;
    }
    if (from.size() < header.bytes) {
        return false;
    }
    header.body_bytes =
        header.bytes == 2 ? std::to_integer<std::uint64_t>(from[1]) : load_big_endian<std::uint64_t>(from.data() + 1);
    if ((header.body_bytes >> 63U) != 0) {
        return fail("frame size with bit 63 set");
    }
    // A sealed frame may be a command outside, as in the RFC, or not, as from libzmq; only the inner flags count.
    if (cipher_ == nullptr && (header.flags & frame_flag::command) != 0 &&
        header.body_bytes > limits::command_bytes_max) {
        return fail("command over the size limit");
    }
    return true;
}

/// libzmq, including 4.3.5, sends a prefix of 246 to 255 bytes as a command with a long size but without the flag. Read
/// as a short command it would have no name, so no other peer sends this. Anything that cannot be such a size is
/// rejected as a short command.
bool Receiver::is_long_without_flag(std::span<const std::byte> from) const noexcept {
    constexpr std::array<std::byte, 7> size_begin{{{}, {}, {}, {}, {}, {}, std::byte{1}}};  // 256 or slightly more
    return cipher_ == nullptr && from.size() > 1 && from[0] == std::byte{frame_flag::command} &&
           std::equal(from.begin() + 1,
                      from.begin() + static_cast<std::ptrdiff_t>(std::min(from.size(), size_begin.size() + 1)),
                      size_begin.begin());
}

/// Returns whether this is a command outside a message. Its size has a separate limit.
bool Receiver::is_lone_command(const Header& header) const noexcept {
    return cipher_ == nullptr && frames_ == 0 && (header.flags & frame_flag::command) != 0;
}

bool Receiver::open(Arrived& frame) noexcept {
    if ((frame.flags & frame_flag::more) != 0) {
        return fail("sealed frame with MORE");
    }
    const OpenedFrame opened = cipher_->open(frame.body);
    if (!opened.ok) {
        return fail("cannot decrypt frame");
    }
    const std::string_view fault = flags_fault(opened.flags);
    if (!fault.empty()) {
        return fail(fault);
    }
    if ((opened.flags & frame_flag::command) != 0 && opened.payload.size() > limits::command_bytes_max) {
        return fail("command over the size limit");
    }
    frame = {opened.flags, opened.payload};
    return true;
}

/// Whole messages go directly to the batch; once the beginning of an unfinished message is stored, the rest of it is
/// too.
inline bool Receiver::add_frame(const std::byte* message, const Arrived& frame, MessageBatch& batch) {
    if (++frames_ > frames_per_message_max_) {
        return fail("message with too many frames");
    }
    if (set_aside_.empty()) {
        batch.add_frame(frame.body);
    } else {
        set_aside_.push_back({static_cast<std::size_t>(frame.body.data() - message), frame.body.size()});
    }
    return true;
}

inline void Receiver::finish_message(const std::byte* message, MessageBatch& batch) {
    if (!set_aside_.empty()) {
        for (const Span& frame : set_aside_) {
            batch.add_frame({message + frame.begin, frame.bytes});
        }
        set_aside_.clear();
        if (set_aside_.capacity() > set_aside_kept) {
            set_aside_ = std::vector<Span>();
        }
    }
    frames_ = 0;
    batch.end_message();
}

void Receiver::set_aside(const std::byte* message, MessageBatch& batch) {
    for (const Bytes frame : batch.unfinished()) {
        set_aside_.push_back({static_cast<std::size_t>(frame.data() - message), frame.size()});
    }
    batch.rewind();
}

bool Receiver::fail(std::string_view fault) noexcept {
    fault_ = fault;
    return false;
}

}  // namespace telegate
