#include "session/backlog.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "session/age_marks.hpp"
#include "zmtp/frame.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace telegate {

using zmtp::message_bytes_at;

namespace {

constexpr std::size_t ring_runs_first = 4;
constexpr std::size_t ring_runs_kept = 64;  // a larger ring is shrunk when it is empty and was little used

}  // namespace

LostRun lost_run(const Slice& messages, bool is_own) noexcept {
    LostRun run{samples_of(messages), messages.end - messages.begin, std::nullopt};
    if (!is_own) {
        run.position = messages.segment->start + messages.begin;
    }
    return run;
}

Backlog::Backlog(std::size_t runs_max) : runs_max_(runs_max), ring_(ring_runs_first) {}

std::uint64_t Backlog::add_run(const Slice& message, std::uint32_t own_tick) {
    if (refuses_ || size_ >= runs_max_ || size_ == ring_.size()) [[unlikely]] {
        return add_run_when_full(message, own_tick);
    }
    push_run(message, own_tick);
    return 0;
}

std::uint64_t Backlog::add_run_when_full(const Slice& message, std::uint32_t own_tick) {
    refuses_ = refuses_ || (refuses_when_full_ && size_ >= runs_max_);
    if (refuses_) {
        refuse(message, own_tick > 0);
        return 1;
    }
    std::uint64_t dropped = 0;
    while (size_ >= runs_max_ && size_ > (hold_.is_set() ? 1U : 0U)) {
        dropped += drop_oldest_run();
    }
    if (size_ == ring_.size()) {
        resize_ring(ring_.size() * 2);
    }
    push_run(message, own_tick);
    return dropped;
}

void Backlog::push_run(const Slice& message, std::uint32_t own_tick) noexcept {
    Run& fresh = run(size_++);
    most_ = std::max(most_, size_);
    fresh.segment = SegmentRef(message.segment);
    fresh.begin = message.begin;
    fresh.end = message.end;
    fresh.messages = 1;
    fresh.own_tick = own_tick;
    own_runs_ += own_tick > 0 ? 1U : 0U;
    ++messages_;
    bytes_ += message.end - message.begin;
}

/// Reports refused messages; whole ones only.
void Backlog::refuse(const Slice& messages, bool is_own) noexcept {
    TELEGATE_ASSERT(refuses_);
    if (lost_ != nullptr && messages.begin < messages.end) {
        (*lost_)(lost_run(messages, is_own));
    }
}

/// Reports the part of the run that starts at `begin`.
void Backlog::report_lost(const Run& part, std::size_t begin) const {
    if (lost_ != nullptr && begin < part.end) {
        (*lost_)(lost_run({part.segment.get(), static_cast<std::uint32_t>(begin), part.end}, part.own_tick > 0));
    }
}

std::size_t Backlog::gather(std::span<StreamPart> out) const noexcept {
    std::size_t used = 0;
    if (!rest_.empty() && used < out.size()) {
        out[used++] = {rest_.data() + rest_sent_, rest_.size() - rest_sent_, nullptr};
    }
    for (std::size_t i = 0; i < size_ && used < out.size(); ++i) {
        const Run& part = run(i);
        const std::size_t begin = part.begin + (i == 0 ? partial_ : 0);
        out[used++] = {part.segment->bytes.get() + begin, part.end - begin, part.segment.get()};
    }
    return used;
}

std::uint64_t Backlog::consume(std::size_t bytes) {
    TELEGATE_ASSERT(bytes <= bytes_);
    bytes_ -= bytes;
    claimed_ -= std::min(claimed_, bytes);
    const std::size_t of_rest = std::min(bytes, rest_.size() - rest_sent_);
    std::uint64_t completed = of_rest > 0 ? consume_rest(of_rest) : 0;
    bytes -= of_rest;
    while (bytes > 0) {
        Run& head = run(0);
        const std::size_t left = head.end - head.begin - partial_;
        if (bytes < left) {
            completed += consume_within(head, bytes);
            break;
        }
        bytes -= left;
        completed += head.messages;
        pop_run();
    }
    messages_ -= completed;
    shrink_if_empty();
    return completed;
}

std::uint64_t Backlog::consume_rest(std::size_t bytes) noexcept {
    std::uint64_t completed = 0;
    rest_sent_ += bytes;
    while (rest_sent_ >= rest_boundary_) {
        ++completed;
        if (rest_boundary_ == rest_.size()) {
            rest_ = std::vector<std::byte>();  // clear() would keep the memory
            rest_sent_ = 0;
            rest_boundary_ = 0;
            break;
        }
        rest_boundary_ += message_bytes_at(rest_.data() + rest_boundary_);
    }
    return completed;
}

std::uint64_t Backlog::consume_within(Run& head, std::size_t bytes) noexcept {
    std::uint64_t completed = 0;
    std::size_t sent = partial_ + bytes;  // from head.begin
    for (;;) {
        const std::size_t message = message_bytes_at(head.segment->bytes.get() + head.begin);
        if (sent < message) {
            break;
        }
        sent -= message;
        head.begin += static_cast<std::uint32_t>(message);
        --head.messages;
        ++completed;
    }
    partial_ = sent;
    return completed;
}

std::uint64_t Backlog::drop_before(std::uint64_t position) {
    std::uint64_t dropped = 0;
    for (auto oldest = oldest_position(); oldest && *oldest < position; oldest = oldest_position()) {
        dropped += drop_oldest_run();
    }
    return dropped;
}

std::optional<std::uint64_t> Backlog::oldest_position() const noexcept {
    for (std::size_t oldest = hold_.is_set() ? 1 : 0; oldest < size_; ++oldest) {
        if (run(oldest).own_tick == 0) {
            return run(oldest).segment->start + run(oldest).begin;
        }
    }
    return std::nullopt;
}

/// Drops the oldest run that is not held.
std::uint64_t Backlog::drop_oldest_run() {
    if (hold_.is_set()) {
        return drop_second_run();
    }
    const Run& head = run(0);
    const std::size_t kept = bytes_under_way(head);
    if (kept > limits::rest_bytes_max) {
        return hold_first_run(kept);
    }
    report_lost(head, head.begin + partial_ + kept);
    const std::uint64_t dropped = head.messages - (kept > 0 ? set_aside(head, kept) : 0);
    bytes_ -= head.end - head.begin - partial_ - kept;
    messages_ -= dropped;
    pop_run();
    return dropped;
}

std::uint64_t Backlog::drop_second_run() noexcept {
    Run& second = run(1);
    report_lost(second, second.begin);
    const std::uint64_t dropped = second.messages;
    bytes_ -= second.end - second.begin;
    own_runs_ -= second.own_tick > 0 ? 1U : 0U;
    messages_ -= dropped;
    second = std::move(run(0));
    first_ = (first_ + 1) & (ring_.size() - 1);
    --size_;
    return dropped;
}

/// Keeps the next `bytes` of the first run in place: one message, see claim().
std::uint64_t Backlog::hold_first_run(std::size_t bytes) noexcept {
    Run& head = run(0);
    TELEGATE_ASSERT(partial_ + bytes == message_bytes_at(head.segment->bytes.get() + head.begin));
    const auto end = static_cast<std::uint32_t>(head.begin + partial_ + bytes);
    report_lost(head, end);
    const std::uint64_t dropped = head.messages - 1;
    bytes_ -= head.end - end;
    messages_ -= dropped;
    head.end = end;
    head.messages = 1;
    hold_.set(head.segment.get());
    return dropped;
}

/// Returns the bytes in flight in the first run: either a message is partly sent, or messages are claimed, never both.
std::size_t Backlog::bytes_under_way(const Run& head) const noexcept {
    if (partial_ > 0) {
        return message_bytes_at(head.segment->bytes.get() + head.begin) - partial_;
    }
    const std::size_t claimed_of_rest = std::min(claimed_, rest_.size() - rest_sent_);
    return std::min<std::size_t>(claimed_ - claimed_of_rest, head.end - head.begin);
}

/// Copies the next `bytes` of the first run to rest_ and returns the number of messages in them.
std::uint64_t Backlog::set_aside(const Run& head, std::size_t bytes) {
    const std::byte* from = head.segment->bytes.get() + head.begin + partial_;
    const std::byte* const end = from + bytes;
    const std::size_t first = partial_ > 0 ? bytes : message_bytes_at(from);
    if (rest_.empty()) {
        rest_boundary_ = first;
    }
    rest_.insert(rest_.end(), from, end);
    std::uint64_t messages = 1;
    for (from += first; from < end; ++messages) {
        from += message_bytes_at(from);
    }
    return messages;
}

std::uint64_t Backlog::drop_all() noexcept {
    const std::size_t left = rest_.size() - rest_sent_;
    std::uint64_t dropped = left > 0 ? consume_rest(left) : 0;
    while (size_ > 0) {
        dropped += run(0).messages;
        pop_run();
    }
    claimed_ = 0;
    messages_ = 0;
    bytes_ = 0;
    return dropped;
}

std::uint64_t Backlog::restart() noexcept {
    const std::size_t left = rest_.size() - rest_sent_;
    const std::uint64_t dropped = left > 0 ? consume_rest(left) : 0;
    bytes_ = bytes_ - left + partial_;
    messages_ -= dropped;
    partial_ = 0;
    claimed_ = 0;
    hold_.reset();
    return dropped;
}

std::uint64_t Backlog::drop_first_message() noexcept {
    TELEGATE_ASSERT(!is_under_way() && size_ > 0);
    Run& head = run(0);
    const std::size_t message = message_bytes_at(head.segment->bytes.get() + head.begin);
    head.begin += static_cast<std::uint32_t>(message);
    bytes_ -= message;
    --messages_;
    if (--head.messages == 0) {
        pop_run();
    }
    return 1;
}

std::optional<std::uint64_t> Backlog::held_position() const noexcept {
    return hold_.is_set() ? std::optional(run(0).segment->start) : std::nullopt;
}

std::size_t Backlog::bytes_to_boundary() const noexcept {
    if (!rest_.empty()) {
        return rest_boundary_ - rest_sent_;
    }
    if (partial_ > 0) {
        return message_bytes_at(run(0).segment->bytes.get() + run(0).begin) - partial_;
    }
    return 0;
}

void Backlog::pop_run() noexcept {
    hold_.reset();
    own_runs_ -= run(0).own_tick > 0 ? 1U : 0U;
    run(0).segment.reset();
    first_ = (first_ + 1) & (ring_.size() - 1);
    --size_;
    partial_ = 0;
}

void Backlog::resize_ring(std::size_t runs) {
    std::vector<Run> fresh(runs);
    for (std::size_t i = 0; i < size_; ++i) {
        fresh[i] = std::move(run(i));
    }
    ring_ = std::move(fresh);
    first_ = 0;
}

void Backlog::shrink_if_empty() {
    if (size_ > 0 || ring_.size() <= ring_runs_kept) {
        return;
    }
    if (std::exchange(most_, 0) <= ring_.size() / 4) {
        resize_ring(ring_.size() / 2);
    }
}

// Operations on the backlog of one slow peer.

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
        const std::byte* const end = part.segment->bytes.get() + part.end;
        for (const std::byte* wire = part.segment->bytes.get() + part.begin; wire < end;
             wire += message_bytes_at(wire)) {
            const std::size_t number = is_newest.size();
            is_newest.push_back(true);
            if (const zmtp::Frame topic = zmtp::frame_at(wire); topic.more()) {
                const auto known = newest.try_emplace(as_text(topic.body), number).first;
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
        std::span<const LoggedSamples> samples = samples_of({part.segment.get(), part.begin, part.end});
        for (std::uint32_t at = part.begin; at < part.end;) {
            const std::byte* const wire = part.segment->bytes.get() + at;
            const std::size_t bytes = message_bytes_at(wire);
            std::optional<SampleRange> of_message;
            if (!samples.empty() && samples.back().offset == at) {
                of_message = samples.back().range();
                samples = samples.first(samples.size() - 1);
            }
            if (is_newest[number++]) {
                std::copy_n(wire, bytes, own.prepare(bytes, sizeof(LoggedSamples)));
                const Slice copy = own.commit(bytes, of_message);
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
