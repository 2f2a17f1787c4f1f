#include "core/assert.hpp"
#include "core/limits.hpp"
#include "session/session.hpp"

#include <algorithm>

namespace telegate {

void Session::begin_turn() noexcept {
    bytes_left_ = limits::read_bytes_per_turn;
    frames_left_ = limits::frames_per_turn;
}

void Session::on_readable() {
    begin_turn();
    switch (state_) {
        case State::handshake: return read_handshake();
        case State::open: return tell_readable();
        case State::draining: return discard_input();
        case State::closed: return;
    }
}

void Session::read_handshake() {
    while (bytes_left_ > 0) {
        if (!read()) {
            return;
        }
        shake_hands();
        if (state_ != State::handshake) {
            return;
        }
    }
    stream_->wait_readable();
}

/// One piece. False when none has come; then the stream waits, or the session has ended.
bool Session::read() {
    const StreamRead result = stream_->read(input_);
    has_more_ = result.more;
    switch (result.status) {
        case IoStatus::ok:
            TELEGATE_ASSERT(result.bytes > 0);
            bytes_received_ += result.bytes;
            bytes_left_ -= std::min(bytes_left_, result.bytes);
            return true;
        case IoStatus::would_block:
            if (write_error_ != 0) {
                close_by_error(write_error_);
                return false;
            }
            if (retirement_) {
                retirement_->caught_up = true;
            }
            input_.release();
            stream_->wait_readable();
            return false;
        case IoStatus::end: close(why_ended()); return false;
        case IoStatus::error: close_by_error(result.error); return false;
    }
    return false;
}

/// Nobody wants it any more, but the end of the stream is behind it.
void Session::discard_input() {
    do {
        input_.consume(input_.unread().size());
        if (!read()) {
            return;
        }
    } while (bytes_left_ > 0);
    stream_->wait_readable();
}

void Session::tell_readable() {
    if (!std::exchange(readable_told_, true)) {
        context_.events.readable(*this);
    }
}

void Session::tell_readable_later() {
    readable_later_.ask();
}

Session::TakeStatus Session::take(MessageBatch& batch) {
    if (state_ != State::open) {
        return TakeStatus::idle;
    }
    readable_told_ = false;
    is_untaken_ = false;
    if (batch.empty() && context_.last_taken != nullptr && context_.last_taken != this) {
        context_.last_taken->input_.release();  // its batch was the last one; a buffer that is warm serves us
    }
    context_.last_taken = this;
    if (!ahead_.empty()) {
        return give_ahead(batch);
    }
    const std::size_t before = batch.size();
    const TakeStatus status = fill(batch);
    received_ += batch.size() - before;
    if (sender_.has_control()) {
        flush();
    }
    return status;
}

Session::TakeStatus Session::give_ahead(MessageBatch& batch) {
    TELEGATE_ASSERT(batch.empty());
    batch = std::exchange(ahead_, {});
    received_ += batch.size();
    tell_readable_later();
    return TakeStatus::idle;
}

/// An owner that does not take, perhaps because it only ever sends, must not keep a PING from its answer, nor us from
/// seeing the end of the stream. Goes up to the first messages, which wait for the owner.
void Session::look_ahead() {
    if (state_ != State::open || context_.is_held || !readable_told_ || !ahead_.empty() ||
        !std::exchange(is_untaken_, true)) {
        return;
    }
    if (context_.last_taken == this) {
        context_.last_taken = nullptr;  // the input stays as it is until the next take()
    }
    begin_turn();
    (void)fill(ahead_);
    if (ahead_.empty()) {
        ahead_ = {};  // with its room
        readable_told_ = false;
        is_untaken_ = false;
    }
    if (sender_.has_control()) {
        flush();
    }
}

Session::TakeStatus Session::fill(MessageBatch& batch) {
    const std::size_t before = batch.size();
    // What is there now is asked for without waiting to be told.
    const bool reads_on = write_error_ != 0 || (retirement_ && !is_caught_up());
    while (state_ == State::open) {
        const Receiver::Status status = receiver_.take(input_, batch, frames_left_);
        has_heard_ = has_heard_ || status == Receiver::Status::command || batch.size() > before;
        switch (status) {
            case Receiver::Status::command: on_command(receiver_.command()); break;
            case Receiver::Status::violation: close_as(Ending::violation, receiver_.fault()); break;
            case Receiver::Status::out_of_turn: tell_readable_later(); return TakeStatus::more;
            case Receiver::Status::need_more:
                // What is in the batch lies in the input, so nothing may be read into that now.
                if (batch.size() > before && !reads_on && !has_more_) {
                    stream_->wait_readable();
                    return TakeStatus::idle;
                }
                if (batch.size() > before || bytes_left_ == 0) {
                    tell_readable_later();
                    return TakeStatus::more;
                }
                if (!read()) {
                    return TakeStatus::idle;
                }
        }
    }
    return TakeStatus::idle;
}

void Session::on_command(Bytes body) {
    const auto command = zmtp::parse_command(body);
    if (!command) {
        return close_as(Ending::violation, "malformed command");
    }
    if (command->name == "PING") {
        on_ping(command->data);
    } else if (command->name == "PONG") {
        heartbeat_.pong_received(std::chrono::steady_clock::now());
    } else if (command->name == "READY" || command->name == "ERROR") {
        close_as(Ending::violation, "handshake command after the handshake");
    } else if ((command->name == "SUBSCRIBE" || command->name == "CANCEL") && context_.events.command) {
        context_.events.command(*this, *command);
    }
    // Unknown commands are skipped, as libzmq does, so that newer peers can talk to us.
}

void Session::on_ping(Bytes data) {
    const auto ping = zmtp::parse_ping(data);
    if (!ping) {
        return close_as(Ending::violation, "malformed PING");
    }
    heartbeat_.set_ttl(std::chrono::milliseconds(100 * ping->ttl_deciseconds), bytes_received_);
    command_.clear();
    zmtp::append_pong(command_, ping->context);
    if (write_error_ != 0 || stream_ended_ || sender_.add_control(command_)) {
        return;
    }
    flush();  // a burst that came in one piece is no fault; what the stream does not take is
    if (state_ != State::closed && !sender_.add_control(command_)) {
        close("does not read its PONGs");
    }
}

}  // namespace telegate
