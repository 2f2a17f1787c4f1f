#include "session/session_writer.hpp"

#include "core/limits.hpp"
#include "session/slow_reader.hpp"

namespace telegate {

void SessionWriter::begin_messages(zmtp::CurveCipher* cipher) noexcept {
    sender_.begin_messages(cipher);
    sent_before_ = outbox_.sent();
}

void SessionWriter::end_wait() noexcept {
    if (state_ == State::waiting) {
        state_ = State::ready;
    }
}

bool SessionWriter::may_write() noexcept {
    return state_ == State::ready || (state_ == State::waiting && stream_.is_writable());
}

Sender::Status SessionWriter::write(std::size_t bytes_max) {
    state_ = State::ready;
    was_half_full_ = was_half_full_ || outbox_.backlog().bytes() > bytes_max / 2;
    if (outbox_.slow() != nullptr) {
        outbox_.slow()->begin_write();
    }
    const Sender::Status status = sender_.write(stream_, limits::write_bytes_per_turn);
    if (outbox_.slow() != nullptr) {
        outbox_.slow()->end_write(status == Sender::Status::full);
    }
    if (status == Sender::Status::failed) {
        state_ = State::failed;
        failed_at_ = std::chrono::steady_clock::now();
    } else if (status != Sender::Status::done) {  // continues in a later event-loop iteration
        stream_.wait_writable();
        state_ = State::waiting;  // last: wait_writable() may throw std::bad_alloc
    }
    return status;
}

bool SessionWriter::has_room_again(std::size_t bytes_max) const noexcept {
    return (was_half_full_ || outbox_.refused()) && outbox_.backlog().bytes() <= bytes_max / 2;
}

void SessionWriter::end_room() noexcept {
    was_half_full_ = false;
    outbox_.end_refusal();
}

void SessionWriter::end() noexcept {
    if (state_ != State::failed) {
        state_ = State::ended;
    }
    stream_.end_writing();
}

bool SessionWriter::close() noexcept {
    was_cut_ = sender_.is_within_message();
    return was_cut_;
}

bool SessionWriter::is_drained(Time now, std::chrono::milliseconds limit) {
    if (state_ != State::ended || stream_.unacknowledged_bytes() > 0) {
        return false;
    }
    drained_ = drained_.value_or(now);
    return now - *drained_ >= limit;
}

}  // namespace telegate
