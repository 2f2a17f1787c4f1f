#include "session/receiver.hpp"

#include "core/endian.hpp"
#include "core/limits.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace telegate {
namespace {

using namespace zmtp;

/// Room that stays for the frames of unfinished messages. Telemetry has two; a longer list gives its room back.
constexpr std::size_t set_aside_kept = 64;

/// Most frames are larger, so that a batch is seldom too small for what has arrived.
constexpr std::size_t usual_frame_bytes = 16;

/// Empty when a frame may have these flags.
[[nodiscard]] constexpr std::string_view flags_fault(unsigned flags) noexcept {
    constexpr unsigned more_command = frame_flag::more | frame_flag::command;
    if ((flags & ~(more_command | frame_flag::long_size)) != 0) {
        return "reserved frame flag set";
    }
    return (flags & more_command) == more_command ? "command frame with MORE" : std::string_view{};
}

constexpr std::size_t short_header_bytes = 2;
constexpr std::size_t short_frame_bytes_max = short_header_bytes + short_body_bytes_max;

/// So many bytes at once are worth a loop of their own.
constexpr std::size_t certain_bytes_min = 256;

/// Ahead of the frame that is looked at. Where the next one begins is known only when this one has come from memory, so
/// that a processor by itself fetches one after the other.
constexpr std::size_t prefetch_bytes = 1024;

/// Short frames that are known to be whole, and to have room, as far as they begin before `end`. Returns where they
/// end, which is before `end` when there is something else.
inline std::byte* take_certain(std::byte* next, const std::byte* end, MessageBatch::Run& run) noexcept {
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

/// The same as far as they are whole before `end` and there is room.
inline std::byte* take_checked(std::byte* next, const std::byte* end, MessageBatch::Run& run) noexcept {
    while (run.room() > 0) {
        const auto left = static_cast<std::size_t>(end - next);
        if (left < short_header_bytes || left - short_header_bytes < std::to_integer<std::size_t>(next[1])) {
            break;
        }
        std::byte* const after = take_certain(next, next + 1, run);
        if (after == next) {
            break;
        }
        next = after;
    }
    return next;
}

/// One frame with a long size, if that is next, whole, and has room.
inline std::byte* take_long(std::byte* next, const std::byte* end, MessageBatch::Run& run) noexcept {
    const auto left = static_cast<std::size_t>(end - next);
    if (run.room() == 0 || left < frame_header_bytes_max) {
        return next;
    }
    const auto flags = std::to_integer<unsigned>(next[0]);
    const auto body_bytes = load_big_endian<std::uint64_t>(next + 1);
    if ((flags | frame_flag::more) != (frame_flag::long_size | frame_flag::more) ||
        body_bytes > left - frame_header_bytes_max) {
        return next;
    }
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

/// Moves taken_ behind the last whole message or command, and scanned_ behind the last whole frame.
Receiver::Status Receiver::scan(std::span<std::byte> unread, MessageBatch& batch, std::size_t& frames_budget) {
    batch.make_room(std::min(frames_budget, unread.size() / usual_frame_bytes));
    std::size_t at = scanned_;
    Status status = Status::need_more;
    for (;;) {
        if (cipher_ == nullptr && set_aside_.empty()) {
            at = take_run(unread, at, batch, frames_budget);
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

Receiver::Status Receiver::take(Input& input, MessageBatch& batch, std::size_t& frames_budget) {
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

/// Whole frames of messages, one behind the other from `at` on, as far as there is nothing else and no limit is
/// reached. Returns where they end. Telemetry consists of short ones; so the loops have a function, and its registers,
/// of their own.
[[gnu::noinline]] std::size_t Receiver::take_run(std::span<std::byte> unread, std::size_t at, MessageBatch& batch,
                                                 std::size_t& frames_budget) noexcept {
    MessageBatch::Run run = batch.begin_run(std::min(frames_budget, frames_per_message_max_ - frames_));
    const std::size_t room = run.room();
    // No message that ends before this is over the size limit.
    std::byte* const end = unread.data() + taken_ + std::min(unread.size() - taken_, message_bytes_max_);
    std::byte* next = unread.data() + at;
    for (;;) {
        // A short frame that begins before the longest would reach the end, is whole. Each has a header, so that in
        // twice as many bytes there begin no more of them than there is room for.
        const auto left = static_cast<std::size_t>(end - next);
        const std::size_t certain =
            std::min(left - std::min(left, short_frame_bytes_max), short_header_bytes * run.room());
        if (certain < certain_bytes_min) {
            next = take_checked(next, end, run);
        } else {
            std::byte* const certain_end = next + certain;
            next = take_certain(next, certain_end, run);
            if (next >= certain_end) {
                continue;
            }
        }
        std::byte* const after = take_long(next, end, run);
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

/// A header that is long, of a command, cut short or wrong. False when there is no more to know of it now.
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
    // Sealed ones may be commands outside, as the RFC has it, or not, as libzmq does; what counts is inside.
    if (cipher_ == nullptr && (header.flags & frame_flag::command) != 0 &&
        header.body_bytes > limits::command_bytes_max) {
        return fail("command over the size limit");
    }
    return true;
}

/// libzmq, 4.3.5 too, sends a prefix of 246 to 255 bytes as a command with a long size but without the flag. As a short
/// command it would have no name, so nobody else sends this; what cannot be such a size is refused as one.
bool Receiver::is_long_without_flag(std::span<const std::byte> from) const noexcept {
    constexpr std::array<std::byte, 7> size_begin{{{}, {}, {}, {}, {}, {}, std::byte{1}}};  // 256 and a little more
    return cipher_ == nullptr && from.size() > 1 && from[0] == std::byte{frame_flag::command} &&
           std::equal(from.begin() + 1,
                      from.begin() + static_cast<std::ptrdiff_t>(std::min(from.size(), size_begin.size() + 1)),
                      size_begin.begin());
}

/// Its size has a limit of its own.
bool Receiver::is_lone_command(const Header& header) const noexcept {
    return cipher_ == nullptr && frames_ == 0 && (header.flags & frame_flag::command) != 0;
}

bool Receiver::open(Arrived& frame) noexcept {
    if ((frame.flags & frame_flag::more) != 0) {
        return fail("sealed frame with MORE");
    }
    const OpenedFrame opened = cipher_->open(frame.body);
    if (!opened.ok) {
        return fail("frame that does not open");
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

/// Whole messages go straight to the batch; once an unfinished one is set aside, the rest of it is too.
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
