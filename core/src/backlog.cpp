#include "backlog.hpp"

#include "core/assert.hpp"
#include "zmtp/frame.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t ring_runs_first = 8;
constexpr std::size_t ring_runs_kept = 64;  // a larger ring is given back when it is empty

/// Bytes of the whole message, all its frames, that starts at `wire`.
std::size_t message_bytes_at(const std::byte* wire) noexcept {
    std::size_t bytes = 0;
    for (;;) {
        const bool more = (std::to_integer<unsigned>(wire[bytes]) & zmtp::frame_flag::more) != 0;
        bytes += static_cast<std::size_t>(zmtp::frame_bytes_at(wire + bytes));
        if (!more) {
            return bytes;
        }
    }
}

}  // namespace

Backlog::Backlog(std::size_t runs_max) : runs_max_(runs_max), ring_(ring_runs_first) {}

std::uint64_t Backlog::add(const Slice& message) {
    bytes_ += message.end - message.begin;
    ++messages_;
    if (size_ > 0) {
        Run& last = run(size_ - 1);
        if (last.segment.get() == message.segment && last.end == message.begin) {
            last.end = message.end;
            ++last.messages;
            return 0;
        }
    }
    const std::uint64_t given_up = size_ == runs_max_ ? give_up_first_run() : 0;
    if (size_ == ring_.size()) {
        resize_ring(ring_.size() * 2);
    }
    Run& fresh = run(size_++);
    fresh.segment = SegmentRef(message.segment);
    fresh.begin = message.begin;
    fresh.end = message.end;
    fresh.messages = 1;
    return given_up;
}

std::size_t Backlog::gather(std::span<iovec> out) const noexcept {
    std::size_t used = 0;
    if (!rest_.empty() && used < out.size()) {
        // sendmsg() does not write through iov_base; the type is only shared with readv().
        out[used++] = {const_cast<std::byte*>(rest_.data()) + rest_sent_, rest_.size() - rest_sent_};
    }
    for (std::size_t i = 0; i < size_ && used < out.size(); ++i) {
        const Run& part = run(i);
        const std::size_t begin = part.begin + (i == 0 ? partial_ : 0);
        out[used++] = {part.segment->bytes.get() + begin, part.end - begin};
    }
    return used;
}

std::uint64_t Backlog::consume(std::size_t bytes) {
    std::uint64_t completed = 0;
    TELEGATE_ASSERT(bytes <= bytes_);
    bytes_ -= bytes;
    if (!rest_.empty()) {
        const std::size_t part = std::min(bytes, rest_.size() - rest_sent_);
        rest_sent_ += part;
        bytes -= part;
        if (rest_sent_ == rest_.size()) {
            rest_.clear();
            rest_sent_ = 0;
            ++completed;
        }
    }
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

std::uint64_t Backlog::give_up_before(std::uint64_t position) {
    std::uint64_t given_up = 0;
    while (size_ > 0 && run(0).segment->start + run(0).begin < position) {
        given_up += give_up_first_run();
    }
    return given_up;
}

std::uint64_t Backlog::give_up_first_run() {
    Run& head = run(0);
    std::uint64_t given_up = head.messages;
    std::size_t released = head.end - head.begin - partial_;
    if (partial_ > 0) {
        const std::byte* message = head.segment->bytes.get() + head.begin;
        rest_.assign(message + partial_, message + message_bytes_at(message));
        rest_sent_ = 0;
        released -= rest_.size();
        --given_up;
    }
    bytes_ -= released;
    messages_ -= given_up;
    pop_run();
    return given_up;
}

std::uint64_t Backlog::give_up_all() noexcept {
    std::uint64_t given_up = rest_.empty() ? 0 : 1;
    while (size_ > 0) {
        given_up += run(0).messages;
        pop_run();
    }
    rest_.clear();
    rest_sent_ = 0;
    messages_ = 0;
    bytes_ = 0;
    return given_up;
}

std::size_t Backlog::bytes_to_boundary() const noexcept {
    if (!rest_.empty()) {
        return rest_.size() - rest_sent_;
    }
    if (partial_ > 0) {
        return message_bytes_at(run(0).segment->bytes.get() + run(0).begin) - partial_;
    }
    return 0;
}

void Backlog::pop_run() noexcept {
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
    if (size_ == 0 && ring_.size() > ring_runs_kept) {
        resize_ring(ring_runs_first);
    }
}

}  // namespace telegate
