#include "transport/inproc/inproc_stream.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace telegate::transport {

InprocStream::InprocStream(Reactor& reactor, std::shared_ptr<InprocLink> link, std::size_t side) noexcept
    : reactor_(reactor), link_(std::move(link)), side_(side), out_(link_->rings[side]), in_(link_->rings[1 - side]) {}

InprocStream::~InprocStream() {
    if (calls_) {
        calls_->gone = true;
    }
    if (is_polled_) {
        reactor_.busy_polls().remove(*this);
    }
    watch_.reset();
    reclaim();
    if (!out_.is_reader_gone()) {
        in_flight_.leave_behind(link_->left_behind[side_]);
    }
    out_.end();
    in_.leave();
    wake_peer();
}

void InprocStream::watch(std::function<void()> on_readable, std::function<void()> on_writable) {
    calls_ = std::make_shared<Calls>(Calls{std::move(on_readable), std::move(on_writable), false});
    watch_ = std::make_unique<Watch>(
        reactor_, link_->wakers[side_].descriptor(), [this] { woken(); }, [] {});
}

void InprocStream::wait_readable() {
    wants_readable_ = true;
    wait();
}

void InprocStream::wait_writable() {
    wants_writable_ = true;
    wait();
}

void InprocStream::wait() {
    if (is_polled_) {
        return;
    }
    if (polls_first_) {
        reactor_.busy_polls().add(*this);
        is_polled_ = true;
    } else {
        request_wake();
    }
}

bool InprocStream::poll() noexcept {
    return (wants_readable_ && (can_read() || holds_up_writer())) || (wants_writable_ && can_write());
}

void InprocStream::found() {
    is_polled_ = false;
    call_back();
}

void InprocStream::not_found() {
    is_polled_ = false;
    polls_first_ = false;
    request_wake();
}

/// Requests a wake-up, then rechecks for what the peer did before it saw the request.
void InprocStream::request_wake() {
    asleep_since_ = std::chrono::steady_clock::now();
    watch_->wait_readable();
    if (wants_readable_ && (in_.await_piece() || holds_up_writer())) {
        wake_myself();
    }
    // Half of what may be in flight, so that the two sides do not synchronize for every single piece.
    reclaim();
    if (wants_writable_ && out_.await_finished(in_flight_.count_for_half(bytes_in_flight_max_))) {
        wake_myself();
    }
}

void InprocStream::woken() {
    link_->wakers[side_].clear();  // before checking
    polls_first_ = std::chrono::steady_clock::now() - asleep_since_ < waits_worth_polling;
    call_back();
}

void InprocStream::call_back() {
    const std::shared_ptr<Calls> calls = calls_;
    if (wants_readable_ && (can_read() || holds_up_writer())) {
        wants_readable_ = false;
        calls->on_readable();
        if (calls->gone) {
            return;
        }
    }
    if (wants_writable_ && can_write()) {
        wants_writable_ = false;
        calls->on_writable();
        if (calls->gone) {
            return;
        }
    }
    if (wants_readable_ || wants_writable_) {
        wait();
    }
}

bool InprocStream::can_write() noexcept {
    const std::uint64_t finished = out_.finished();
    in_flight_.release_before(finished);
    return finished >= in_flight_.count_for_half(bytes_in_flight_max_) || out_.is_reader_gone();
}

StreamWrite InprocStream::write(std::span<const StreamPart> parts) {
    TELEGATE_ASSERT(!parts.empty());
    reclaim();
    if (out_.is_reader_gone()) {
        return {IoStatus::error, 0, EPIPE};
    }
    std::size_t to_copy = 0;
    for (const StreamPart& part : parts) {
        to_copy += part.segment == nullptr ? part.bytes : 0;
    }
    Copies copies;
    if (to_copy > 0) {
        copies.block = std::make_shared_for_overwrite<std::byte[]>(to_copy);
    }
    std::size_t taken = 0;
    for (const StreamPart& part : parts) {
        const bool goes_round = part.segment != nullptr && part.segment->goes_round;
        bytes_in_flight_max_ = goes_round ? bytes_in_flight_round : bytes_in_flight;
        if (in_flight_.bytes() >= bytes_in_flight_max_ || !put(part, copies)) {
            break;
        }
        taken += part.bytes;
    }
    if (taken == 0) {
        return {IoStatus::would_block, 0, 0};
    }
    if (out_.publish()) {
        wake_peer();
    }
    return {IoStatus::ok, taken, 0};
}

/// Returns false if there is no space for one more piece.
bool InprocStream::put(const StreamPart& part, Copies& copies) {
    const std::byte* data = part.data;
    if (part.segment == nullptr) {
        std::byte* copy = copies.block.get() + copies.used;
        std::memcpy(copy, part.data, part.bytes);
        copies.used += part.bytes;
        data = copy;
    }
    Piece* last = out_.unpublished();
    if (last != nullptr && last->data + last->bytes == data && in_flight_.last_segment() == part.segment) {
        last->bytes += part.bytes;
        in_flight_.extend(part.bytes);
        return true;
    }
    if (in_flight_.is_full()) {
        return false;
    }
    if (part.segment == nullptr) {
        in_flight_.add(SegmentRef(), copies.block, part.bytes);
    } else {
        in_flight_.add(SegmentRef(part.segment), nullptr, part.bytes);
    }
    out_.put({data, part.bytes});
    return true;
}

StreamRead InprocStream::read(Input& input) {
    if (lent_bytes_ > 0) {
        if (!input.unread().empty()) {
            (void)input.room();  // copies the beginning of a message out of the memory that is returned
        }
        lent_bytes_ = 0;
        return_pieces();
    }
    if (!can_read()) {
        return {IoStatus::would_block, 0, 0};
    }
    const Piece* piece = in_.front();
    if (piece == nullptr) {
        return {IoStatus::end, 0, 0};
    }
    // Others read the same memory. Nothing writes to it: a session writes into its input only to open a CURVE box, and
    // there is no CURVE within a process.
    const std::span<std::byte> bytes =
        std::span(const_cast<std::byte*>(piece->data), piece->bytes).subspan(front_read_);
    if (input.unread().empty()) {
        input.lend(bytes);
        lent_bytes_ = piece->bytes;
        front_read_ = 0;
        in_.pop();
        return {IoStatus::ok, bytes.size(), 0, in_.front() != nullptr};
    }
    const std::span<std::byte> room = input.room();
    const std::size_t count = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), count);
    input.received(count);
    front_read_ += count;
    if (count == bytes.size()) {
        front_read_ = 0;
        in_.pop();
        return_pieces();
    }
    return {IoStatus::ok, count, 0, in_.front() != nullptr};
}

void InprocStream::return_pieces() noexcept {
    if (in_.finish()) {
        wake_peer();
    }
}

void InprocStream::end_writing() noexcept {
    out_.end();
    wake_peer();
}

std::size_t InprocStream::unacknowledged_bytes() const noexcept {
    reclaim();
    return in_flight_.bytes();
}

}  // namespace telegate::transport
