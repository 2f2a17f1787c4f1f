#include "session/session.hpp"

#include "core/limits.hpp"
#include "session/slow_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

namespace telegate {

using namespace std::chrono;

Session::Session(SessionContext& context, Arrival arrival)
    : context_(context),
      stream_(std::move(arrival.stream)),
      id_(arrival.id),
      endpoint_(std::move(arrival.endpoint)),
      peer_text_(stream_->peer()),
      address_(stream_->address()),
      initiator_(arrival.initiator),
      keep_outbox_(arrival.keep_outbox),
      outbox_(std::move(arrival.outbox)),
      identity_(std::move(arrival.alias)),
      started_(steady_clock::now()),
      // A peer in this process cannot vanish unseen.
      heartbeat_(stream_->stays_in_process() ? milliseconds(0) : context.options.heartbeat_interval,
                 context.options.heartbeat_timeout),
      input_(context.buffers),
      receiver_(context.options.message_bytes_max, context.options.frames_per_message_max),
      readable_later_(context.reactor, [this] { guard(&Session::on_readable); }),
      sender_(*outbox_),
      alive_(std::make_shared<char>()) {
    const Security& security = arrival.security != nullptr ? *arrival.security : context.options.security;
    // What never leaves the process needs no guard.
    handshake_.emplace(zmtp::HandshakeOptions{context.socket_type, context.options.identity,
                                              stream_->stays_in_process() ? Security{} : security});
    stream_->watch([this] { guard(&Session::on_readable); }, [this] { guard(&Session::on_writable); });
}

Session::~Session() {
    if (context_.last_taken == this) {
        context_.last_taken = nullptr;
    }
}

/// A lack of memory costs this session.
void Session::guard(void (Session::*call)()) {
    try {
        (this->*call)();
    } catch (const std::bad_alloc&) {
        close("out of memory");
    }
}

void Session::start() {
    guard(&Session::greet);
}

void Session::greet() {
    sender_.add_raw(handshake_->take_output());
    flush();
    if (state_ != State::closed) {
        stream_->wait_readable();
    }
}

/// Feeds what has arrived to the handshake.
void Session::shake_hands() {
    const Bytes unread = input_.unread();
    Bytes left = unread;
    const zmtp::Handshake::Status status = handshake_->feed(left);
    input_.consume(unread.size() - left.size());
    if (status == zmtp::Handshake::Status::violation) {
        peer_ = handshake_->peer();  // for the monitor
        return close(handshake_->fault());
    }
    sender_.add_raw(handshake_->take_output());
    if (status == zmtp::Handshake::Status::done) {
        open();
    } else if (sender_.has_control()) {
        flush();
    }
}

void Session::open() {
    peer_ = handshake_->peer();
    cipher_ = handshake_->take_cipher();
    handshake_.reset();
    receiver_.set_cipher(cipher_.get());
    sender_.begin_messages(cipher_.get());
    sent_before_ = outbox_->sent();
    if (identity_.empty()) {
        identity_ = peer_.identity;
    }
    heartbeat_.start(steady_clock::now(), peer_.minor >= 1);
    state_ = State::open;
    context_.events.opened(*this);
    flush();
    if (state_ != State::open) {
        return;
    }
    if (input_.unread().empty()) {
        input_.release();
        stream_->wait_readable();
    } else {
        tell_readable();  // it came behind the handshake
    }
}

void Session::on_writable() {
    waiting_writable_ = false;
    flush();
}

void Session::flush() {
    dirty_ = false;
    if (stream_ended_ || write_error_ != 0 || state_ == State::closed) {
        return;
    }
    if (waiting_writable_ && !stream_->is_writable()) {
        return;
    }
    waiting_writable_ = false;
    const std::size_t half = outbox_->bytes_max_or(context_.options.backlog_bytes_max) / 2;
    was_full_ = was_full_ || outbox_->backlog().bytes() > half;
    if (outbox_->slow() != nullptr) {
        outbox_->slow()->begin_write();
    }
    const Sender::Status status = sender_.write(*stream_, limits::write_bytes_per_turn);
    if (outbox_->slow() != nullptr) {
        outbox_->slow()->end_write(status == Sender::Status::full);
    }
    switch (status) {
        case Sender::Status::done: end_stream_when_drained(); break;
        case Sender::Status::full:
        case Sender::Status::partial:  // goes on in a later turn of the loop
            stream_->wait_writable();
            waiting_writable_ = true;  // last: the wait may lack memory
            break;
        case Sender::Status::failed: return stop_writing(sender_.error());
    }
    const bool has_room = outbox_->backlog().bytes() <= half;
    if ((was_full_ || outbox_->refused()) && has_room && context_.events.room && !room_posted_) {
        later(&Session::tell_room);  // not from here: whoever hears it may well send and flush
        room_posted_ = true;
    }
}

/// What has arrived before is still to be read; the reading finds the end, and closes.
void Session::stop_writing(int error) {
    write_error_ = error;
    write_failed_ = steady_clock::now();
    if (state_ == State::draining) {
        close_by_error(error);
    } else {
        tell_readable_later();
    }
}

void Session::tell_room() {
    room_posted_ = false;
    was_full_ = false;
    outbox_->end_refusal();
    if (state_ == State::open) {
        context_.events.room(*this);
    }
}

void Session::drain() {
    if (state_ == State::handshake) {
        close("shutdown");
    } else if (state_ == State::open) {
        state_ = State::draining;
        if (write_error_ != 0) {
            return close_by_error(write_error_);
        }
        stream_->wait_readable();
        flush();
    }
}

void Session::end_stream_when_drained() {
    if (state_ == State::draining) {
        stream_ended_ = true;
        // The peer reads to the end, then closes its side; closing ours first could discard what it has not read.
        stream_->end_writing();
    }
}

/// What the peer's machine has received can be read there after we have closed. (Some systems discard it if the peer
/// writes after that; Linux does not.)
void Session::tick_drained(steady_clock::time_point now) {
    if (!stream_ended_ || stream_->unacknowledged_bytes() > 0) {
        return;
    }
    drained_ = drained_.value_or(now);
    if (now - *drained_ >= limits::drained_time_max) {
        close("shutdown");
    }
}

void Session::close(std::string_view why) {
    close_as(Ending::other, why);
}

void Session::cut_off() noexcept {
    outbox_->give_up_all();
    stream_ended_ = true;
    stream_->end_writing();
}

void Session::retire(std::string_view why) {
    if (state_ != State::open) {
        return;
    }
    if (retirement_) {
        return close_unread(why);
    }
    retirement_.emplace(Retirement{std::string(why), steady_clock::now() + retiring_time()});
    outbox_->give_up_all();
    stream_ended_ = true;
    stream_->end_writing();
    tell_readable_later();  // not from here: whoever hears it may well receive
}

milliseconds Session::retiring_time() const noexcept {
    const SocketOptions& options = context_.options;
    const bool has_heartbeat = options.heartbeat_interval.count() > 0;
    return has_heartbeat ? std::min(limits::retiring_time_max, options.heartbeat_timeout) : limits::retiring_time_max;
}

void Session::set_held(bool held) noexcept {
    held_ = held;
    write_failed_ = steady_clock::now();
    if (retirement_) {
        retirement_->end = write_failed_ + retiring_time();
    }
}

bool Session::is_caught_up() const noexcept {
    return state_ == State::closed || (retirement_ && retirement_->caught_up);
}

bool Session::has_untaken() const noexcept {
    return readable_told_ || !ahead_.empty() || receiver_.has_unfinished(input_);
}

/// Not in silence, when something was left.
void Session::close_unread(std::string_view why) {
    const bool is_all_read = (!retirement_ || is_caught_up()) && !has_untaken();
    close(is_all_read ? std::string(why) : std::string(why) + ", not all was read");
}

void Session::tick_retired(steady_clock::time_point now) {
    if (held_ || now < retirement_->end) {
        return;
    }
    // The loop itself may have been held up until now.
    const bool is_done = is_caught_up() && !has_untaken();
    if (is_done || std::exchange(retirement_->overdue, true)) {
        close_unread(retirement_->why);
    }
}

std::string Session::why_failed(int error) const {
    if (error == EPIPE || error == ECONNRESET) {
        return retirement_ ? retirement_->why : "peer left";
    }
    return std::generic_category().message(error);
}

std::string_view Session::why_ended() const noexcept {
    if (retirement_) {
        return retirement_->why;
    }
    return stream_ended_ ? "shutdown" : "peer left";
}

void Session::close_as(Ending ending, std::string_view why) {
    if (state_ == State::closed) {
        return;
    }
    state_ = State::closed;
    ending_ = ending;
    was_cut_ = sender_.is_within_message();
    if (keep_outbox_) {
        outbox_->restart_partial(was_cut_);
    } else {
        outbox_->give_up_all();
    }
    context_.events.ended(*this, why);
}

void Session::close_by_error(int error) {
    close(why_failed(error));
}

void Session::tick(steady_clock::time_point now) {
    if (ahead_.empty()) {
        input_.release();  // of an earlier turn's batch
    }
    look_ahead();
    if (state_ == State::handshake && now - started_ >= context_.options.handshake_time_max) {
        close("no handshake in time");
    } else if (state_ == State::draining) {
        tick_drained(now);
    } else if (state_ == State::open && retirement_) {
        tick_retired(now);
    } else if (state_ == State::open && write_error_ != 0) {
        if (!held_ && now - write_failed_ >= retiring_time()) {
            close_unread(why_failed(write_error_));
        }
    } else if (state_ == State::open) {
        switch (heartbeat_.look(now, {bytes_received_, readable_told_})) {
            case Heartbeat::Look::fine: break;
            case Heartbeat::Look::closer: judge_quiet_peer(now); break;
            case Heartbeat::Look::silent: close_as(Ending::silence, "silent");
        }
    }
}

void Session::judge_quiet_peer(steady_clock::time_point now) {
    Heartbeat::Signs signs;
    signs.bytes_written = sender_.bytes_written();
    signs.unacknowledged = std::min<std::uint64_t>(stream_->unacknowledged_bytes(), signs.bytes_written);
    signs.has_backlog = !outbox_->backlog().empty();
    if (signs.has_backlog || signs.unacknowledged > 0) {
        const std::int64_t ago_ms = stream_->acknowledged_ms_ago();
        signs.acknowledged_ago = ago_ms < 0 ? std::nullopt : std::optional(milliseconds(ago_ms));
    }
    switch (heartbeat_.judge(now, signs)) {
        case Heartbeat::Verdict::fine: break;
        case Heartbeat::Verdict::ping: send_ping(now); break;
        case Heartbeat::Verdict::silent: close_as(Ending::silence, "silent");
    }
}

void Session::send_ping(steady_clock::time_point now) {
    std::size_t wire_bytes = 0;
    if (!sender_.has_control()) {  // otherwise nothing has gone out since the last one
        constexpr milliseconds::rep ttl_max = 650;
        const auto ttl = std::min(context_.options.heartbeat_timeout.count() / 100, ttl_max);
        command_.clear();
        zmtp::append_ping(command_, static_cast<std::uint16_t>(ttl), {});
        if (sender_.add_control(command_)) {
            wire_bytes = cipher_ == nullptr ? command_.size() : zmtp::CurveCipher::sealed_bytes(command_.size() - 2);
            heartbeat_.ping_left(steady_clock::now());
        }
    }
    heartbeat_.ping_sent(now, wire_bytes);
    flush();
}

PeerStatus Session::status() const {
    PeerStatus status;
    status.id = id_;
    status.endpoint = endpoint_;
    status.peer = peer_text_;
    status.identity = identity_;
    status.socket_type = zmtp::to_string(peer_.socket_type);
    status.mechanism = cipher_ == nullptr ? "NULL" : "CURVE";
    if (peer_.curve_key) {
        status.curve_key = to_z85(*peer_.curve_key);
    }
    status.curve_name = peer_.curve_name;
    status.zmtp_minor = peer_.minor;
    status.matched = outbox_->matched();
    status.sent = outbox_->sent();
    status.dropped = outbox_->dropped();
    status.losses = outbox_->losses();
    status.pending = outbox_->backlog().messages();
    status.backlog_bytes = outbox_->backlog().bytes();
    status.received = received_;
    status.bytes_sent = sender_.bytes_written();
    status.bytes_received = bytes_received_;
    status.silent = heartbeat_.silent(steady_clock::now(), bytes_received_);
    status.round_trip = heartbeat_.round_trip();
    return status;
}

/// In a later turn of the loop, unless we have gone by then.
void Session::later(void (Session::*call)()) {
    context_.reactor.post([this, call, alive = std::weak_ptr<void>(alive_)] {
        if (!alive.expired()) {
            guard(call);
        }
    });
}

}  // namespace telegate
