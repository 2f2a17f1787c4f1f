#include "session/session_reader.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

void SessionReader::begin_turn() noexcept {
    bytes_left_ = limits::read_bytes_per_turn;
    frames_left_ = limits::frames_per_turn;
}

SessionReader::Outcome SessionReader::read() {
    const StreamRead result = stream_.read(input_);
    has_more_ = result.more;
    switch (result.status) {
        case IoStatus::ok:
            TELEGATE_ASSERT(result.bytes > 0);
            bytes_received_ += result.bytes;
            bytes_left_ -= std::min(bytes_left_, result.bytes);
            return Outcome::got;
        case IoStatus::would_block: return Outcome::empty;
        case IoStatus::end: return Outcome::end;
        case IoStatus::error: break;
    }
    error_ = result.error;
    return Outcome::error;
}

SessionReader::Outcome SessionReader::fill(MessageBatch& batch, std::size_t before, bool reads_on) {
    for (;;) {
        const Receiver::Status status = receiver_.decode(input_, batch, frames_left_);
        has_heard_ = has_heard_ || status == Receiver::Status::command || batch.size() > before;
        switch (status) {
            case Receiver::Status::command: return Outcome::command;
            case Receiver::Status::violation: return Outcome::violation;
            case Receiver::Status::out_of_turn: return Outcome::more;
            case Receiver::Status::need_more: break;
        }
        // The batch refers to the input, so nothing may be read into the input now.
        if (batch.size() > before) {
            return reads_on || has_more_ ? Outcome::more : Outcome::got;
        }
        if (bytes_left_ == 0) {
            return Outcome::more;
        }
        if (const Outcome outcome = read(); outcome != Outcome::got) {
            return outcome;
        }
    }
}

bool SessionReader::mark_notified() noexcept {
    if (notice_ != Notice::none) {
        return false;
    }
    notice_ = Notice::notified;
    return true;
}

bool SessionReader::is_overdue() noexcept {
    if (notice_ == Notice::none || has_ahead()) {
        return false;
    }
    return std::exchange(notice_, Notice::overdue) == Notice::overdue;
}

bool SessionReader::has_untaken() const noexcept {
    return is_notified() || has_ahead() || receiver_.has_unfinished(input_);
}

}  // namespace telegate
