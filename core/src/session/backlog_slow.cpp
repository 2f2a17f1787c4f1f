#include "session/backlog.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "session/age_marks.hpp"
#include "zmtp/frame.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

// Operations on the backlog of one slow peer.

namespace telegate {

using zmtp::message_bytes_at;

LostMessage take_message(Bytes& wire) noexcept {
    zmtp::Frame last = zmtp::frame_at(wire.data());
    LostMessage message{{}, as_text(last.body)};
    if (last.more()) {
        message.topic = message.payload;
        last = zmtp::frame_at(last.end());
        message.payload = as_text(last.body);
    }
    while (last.more()) {
        last = zmtp::frame_at(last.end());
    }
    wire = wire.subspan(static_cast<std::size_t>(last.end() - wire.data()));
    return message;
}

std::uint64_t Backlog::add_own(const Slice& message, std::uint32_t tick) {
    if (size_ > 0 && run(size_ - 1).own_tick == tick && run(size_ - 1).segment.get() == message.segment &&
        run(size_ - 1).end == message.begin) {
        return add(message);
    }
    return add_run(message, tick);
}

std::size_t Backlog::own_bytes() const noexcept {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < size_ && own_runs_ > 0; ++i) {
        bytes += run(i).own_tick > 0 ? run(i).end - run(i).begin : 0U;
    }
    return bytes;
}

void Backlog::put_first(std::vector<std::byte> wire, std::uint64_t messages) {
    TELEGATE_ASSERT(!is_under_way() && messages > 0);
    rest_ = std::move(wire);
    rest_sent_ = 0;
    rest_boundary_ = message_bytes_at(rest_.data());
    messages_ += messages;
    bytes_ += rest_.size();
}

std::size_t Backlog::gather_under_way(std::span<StreamPart> out) const noexcept {
    TELEGATE_ASSERT(!at_boundary());
    const std::size_t used = gather(out.first(1));
    if (rest_.empty()) {
        out[0].bytes = bytes_to_boundary();
    }
    return used;
}

/// Splits one of the first two runs at `at`, a message boundary.
void Backlog::split(std::size_t index, std::uint32_t at) {
    TELEGATE_ASSERT(index <= 1 && index < size_);
    if (size_ == ring_.size()) {
        resize_ring(ring_.size() * 2);
    }
    first_ = (first_ - 1) & (ring_.size() - 1);
    ++size_;
    for (std::size_t i = 0; i < index; ++i) {
        run(i) = std::move(run(i + 1));
    }
    Run& front = run(index);
    Run& back = run(index + 1);
    front = Run{SegmentRef(back.segment.get()), back.begin, at, 0, back.own_tick};
    own_runs_ += front.own_tick > 0 ? 1U : 0U;
    for (std::uint32_t begin = front.begin; begin < at; ++front.messages) {
        begin += static_cast<std::uint32_t>(message_bytes_at(back.segment->bytes.get() + begin));
    }
    back.begin = at;
    back.messages -= front.messages;
}

std::uint64_t Backlog::drop_older(std::uint64_t position, std::uint32_t tick) {
    std::uint64_t dropped = 0;
    for (;;) {
        const std::size_t oldest = hold_.is_set() ? 1 : 0;
        if (size_ <= oldest) {
            return dropped;
        }
        const Run& part = run(oldest);
        const std::uint64_t start = part.segment->start;
        const bool is_old =
            part.own_tick == 0 ? start + part.begin < position : AgeMarks::is_up_to(tick, part.own_tick);
        if (!is_old) {
            return dropped;
        }
        if (part.own_tick == 0 && start + part.end > position) {
            std::uint32_t at = part.begin;
            while (start + at < position) {
                at += static_cast<std::uint32_t>(message_bytes_at(part.segment->bytes.get() + at));
            }
            if (at < part.end) {
                split(oldest, at);
            }
        }
        dropped += drop_oldest_run();
    }
}

std::uint64_t Backlog::drop_to(std::size_t bytes_max) {
    std::uint64_t dropped = 0;
    for (;;) {
        const std::size_t oldest = hold_.is_set() ? 1 : 0;
        if (size_ <= oldest || bytes_ <= bytes_max) {
            return dropped;
        }
        const Run& part = run(oldest);
        std::uint32_t at = part.begin;
        const std::size_t bytes = bytes_ + (oldest == 0 ? partial_ : 0);  // including all of this run
        while (at < part.end && bytes - (at - part.begin) > bytes_max) {
            at += static_cast<std::uint32_t>(message_bytes_at(part.segment->bytes.get() + at));
        }
        if (at < part.end) {
            split(oldest, at);
        }
        dropped += drop_oldest_run();
    }
}

/// Leaves only messages in the runs that have not started, except for a held one.
void Backlog::set_aside_under_way() {
    while (size_ > 0 && !hold_.is_set()) {
        Run& head = run(0);
        const std::size_t kept = bytes_under_way(head);
        const auto end = static_cast<std::uint32_t>(head.begin + partial_ + kept);
        if (kept == 0) {
            return;
        }
        if (kept > limits::rest_bytes_max) {  // one message
            if (end < head.end) {
                split(0, end);
            }
            hold_.set(run(0).segment.get());
            return;
        }
        head.messages -= static_cast<std::uint32_t>(set_aside(head, kept));
        head.begin = end;
        partial_ = 0;
        if (head.begin == head.end) {
            pop_run();
        }
    }
}

/// Removes and returns the runs that have not started.
std::vector<Backlog::Run> Backlog::take_waiting() {
    set_aside_under_way();
    const std::size_t first = hold_.is_set() ? 1 : 0;
    std::vector<Run> waiting;
    for (std::size_t i = first; i < size_; ++i) {
        waiting.push_back(std::move(run(i)));
        messages_ -= waiting.back().messages;
        bytes_ -= waiting.back().end - waiting.back().begin;
        own_runs_ -= waiting.back().own_tick > 0 ? 1U : 0U;
    }
    size_ = std::min(size_, first);
    return waiting;
}

/// Returns for each message of the runs whether it is the newest of its topic; always true for messages of one frame.
std::vector<bool> Backlog::newest_of(const std::vector<Run>& runs) {
    std::vector<bool> is_newest;
    std::unordered_map<std::string_view, std::size_t> newest;
    for (const Run& part : runs) {
        for (Bytes wire(part.segment->bytes.get() + part.begin, part.end - part.begin); !wire.empty();) {
            const LostMessage message = take_message(wire);
            const std::size_t number = is_newest.size();
            is_newest.push_back(true);
            if (message.topic.data() != nullptr) {
                const auto known = newest.try_emplace(message.topic, number).first;
                is_newest[std::exchange(known->second, number)] = false;
                is_newest[number] = true;
            }
        }
    }
    return is_newest;
}

std::uint64_t Backlog::conflate(SegmentLog& own, const std::function<std::uint32_t(std::uint64_t position)>& tick_at) {
    std::vector<Run> old = take_waiting();
    const std::vector<bool> is_newest = newest_of(old);
    return conflate_into(own, old, is_newest, tick_at);
}

/// Copies the newest messages and frees the old runs one by one. Returns the number of messages dropped.
std::uint64_t Backlog::conflate_into(SegmentLog& own, std::vector<Run>& old, const std::vector<bool>& is_newest,
                                     const std::function<std::uint32_t(std::uint64_t position)>& tick_at) {
    std::uint64_t lost = 0;
    std::size_t number = 0;
    own.release();  // its own segment may be among the old ones
    for (Run& part : old) {
        for (std::uint32_t at = part.begin; at < part.end;) {
            const std::byte* const wire = part.segment->bytes.get() + at;
            const std::size_t bytes = message_bytes_at(wire);
            if (is_newest[number++]) {
                std::copy_n(wire, bytes, own.prepare(bytes));
                const Slice copy = own.commit(bytes);
                lost += add_own(copy, part.own_tick > 0 ? part.own_tick : tick_at(part.segment->start + at));
            } else {
                ++lost;
            }
            at += static_cast<std::uint32_t>(bytes);
        }
        part.segment.reset();
    }
    return lost;
}

}  // namespace telegate
