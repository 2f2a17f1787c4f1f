#include "session/session.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

namespace telegate {

using namespace std::chrono;
using Outcome = SessionReader::Outcome;

namespace {

bool is_disconnection(int error) noexcept {
    return error == EPIPE || error == ECONNRESET;
}

}  // namespace

Session::Session(SessionContext& context, Arrival arrival)
    : context_(context),
      stream_(std::move(arrival.stream)),
      origin_{arrival.id,        std::move(arrival.endpoint), stream_->peer(),
              stream_->client(), arrival.initiator,           arrival.keep_outbox},
      outbox_(std::move(arrival.outbox)),
      identity_(std::move(arrival.alias)),
      // A peer in this process cannot vanish unnoticed.
      heartbeat_(stream_->stays_in_process() ? milliseconds(0) : context.options.heartbeat_interval,
                 context.options.heartbeat_timeout),
      reader_(*stream_, context.buffers, context.options),
      readable_later_(context.reactor, [this] { on_readable(); }),
      writer_(*stream_, *outbox_),
      room_later_(context.reactor, [this] { notify_room(); }) {
    const Security& security = arrival.security != nullptr ? *arrival.security : context.options.security;
    // Data that never leaves the process needs no encryption.
    greeting_.emplace(zmtp::HandshakeOptions{context.socket_type, context.options.identity,
                                             stream_->stays_in_process() ? Security{} : security});
    stream_->watch([this] { on_readable(); }, [this] { on_writable(); });
}

Session::~Session() {
    if (context_.last_received == this) {
        context_.last_received = nullptr;
    }
}

void Session::start() {
    writer_.add_raw(greeting_->handshake.take_output());
    flush();
    if (state_ != State::closed) {
        stream_->wait_readable();
    }
}

void Session::read_handshake() {
    while (reader_.has_bytes_left()) {
        if (const auto outcome = reader_.read(); outcome != Outcome::got) {
            return on_unread(outcome);
        }
        shake_hands();
        if (state_ != State::handshake) {
            return;
        }
    }
    stream_->wait_readable();
}

/// Feeds arrived data to the handshake.
void Session::shake_hands() {
    zmtp::Handshake& handshake = greeting_->handshake;
    const Bytes unread = reader_.unread();
    Bytes left = unread;
    const zmtp::Handshake::Status status = handshake.feed(left);
    reader_.consume(unread.size() - left.size());
    if (status == zmtp::Handshake::Status::violation) {
        peer_ = handshake.peer();  // for the monitor
        return close(handshake.fault());
    }
    writer_.add_raw(handshake.take_output());
    if (status == zmtp::Handshake::Status::done) {
        open();
    } else if (writer_.has_control()) {
        flush();
    }
}

void Session::open() {
    peer_ = greeting_->handshake.peer();
    cipher_ = greeting_->handshake.take_cipher();
    greeting_.reset();
    reader_.set_cipher(cipher_.get());
    writer_.begin_messages(cipher_.get());
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
    if (reader_.unread().empty()) {
        reader_.release();
        stream_->wait_readable();
    } else {
        notify_readable();  // it arrived together with the handshake
    }
}

void Session::on_readable() {
    reader_.begin_turn();
    switch (state_) {
        case State::handshake: return read_handshake();
        case State::open: return notify_readable();
        case State::draining: return discard_input();
        case State::closed: return;
    }
}

/// Discards input that is no longer needed, to reach the end of the stream.
void Session::discard_input() {
    do {
        reader_.consume(reader_.unread().size());
        if (const auto outcome = reader_.read(); outcome != Outcome::got) {
            return on_unread(outcome);
        }
    } while (reader_.has_bytes_left());
    stream_->wait_readable();
}

/// Handles a read that returned no data.
void Session::on_unread(Outcome outcome) {
    if (outcome == Outcome::end) {
        close_ended(end_of_stream);
    } else if (outcome == Outcome::error) {
        close_ended(reader_.error());
    } else if (writer_.state() == SessionWriter::State::failed) {
        close_ended(writer_.error());
    } else {
        if (retirement_) {
            retirement_->caught_up = true;
        }
        reader_.release();
        stream_->wait_readable();
    }
}

void Session::notify_readable() {
    if (reader_.mark_notified()) {
        context_.events.readable(*this);
    }
}

Session::ReceiveStatus Session::receive(MessageBatch& batch) {
    if (state_ != State::open) {
        return ReceiveStatus::idle;
    }
    reader_.begin_receive();
    if (batch.empty() && context_.last_received != nullptr && context_.last_received != this) {
        // its batch was the last one; reuse its buffer while it is in the cache
        context_.last_received->reader_.release();
    }
    context_.last_received = this;
    if (reader_.has_ahead()) {
        return receive_ahead(batch);
    }
    const std::size_t before = batch.size();
    const ReceiveStatus status = fill(batch);
    reader_.count_received(batch.size() - before);
    if (writer_.has_control()) {
        flush();
    }
    return status;
}

Session::ReceiveStatus Session::receive_ahead(MessageBatch& batch) {
    TELEGATE_ASSERT(batch.empty());
    batch = std::exchange(reader_.ahead(), {});
    reader_.count_received(batch.size());
    readable_later_.schedule();
    return ReceiveStatus::idle;
}

/// Reads ahead for an owner that does not receive, for example because it only sends: PINGs must still be answered and
/// the end of the stream noticed. Stops at the first messages, which wait for the owner.
void Session::read_ahead() {
    if (state_ != State::open || context_.is_held || !reader_.is_overdue()) {
        return;
    }
    if (context_.last_received == this) {
        context_.last_received = nullptr;  // the input stays unchanged until the next receive()
    }
    reader_.begin_turn();
    MessageBatch& ahead = reader_.ahead();
    (void)fill(ahead);
    if (ahead.empty()) {
        ahead = {};  // including its memory
        reader_.begin_receive();
    }
    if (writer_.has_control()) {
        flush();
    }
}

Session::ReceiveStatus Session::fill(MessageBatch& batch) {
    const std::size_t before = batch.size();
    // Data that is available now is read without waiting for a notification.
    const bool reads_on = writer_.state() == SessionWriter::State::failed || (retirement_ && !is_caught_up());
    while (state_ == State::open) {
        switch (const Outcome outcome = reader_.fill(batch, before, reads_on)) {
            case Outcome::command: on_command(reader_.command()); break;
            case Outcome::violation: close_as(PeerEnding::violation, reader_.fault()); break;
            case Outcome::more: readable_later_.schedule(); return ReceiveStatus::more;
            case Outcome::got: stream_->wait_readable(); return ReceiveStatus::idle;
            case Outcome::empty:
            case Outcome::end:
            case Outcome::error: on_unread(outcome); return ReceiveStatus::idle;
        }
    }
    return ReceiveStatus::idle;
}

void Session::on_command(Bytes body) {
    const auto command = zmtp::parse_command(body);
    if (!command) {
        return close_as(PeerEnding::violation, "malformed command");
    }
    if (command->name == "PING") {
        on_ping(command->data);
    } else if (command->name == "PONG") {
        heartbeat_.pong_received(steady_clock::now());
    } else if (command->name == "READY" || command->name == "ERROR") {
        close_as(PeerEnding::violation, "handshake command after the handshake");
    } else if (command->name == "SUBSCRIBE" || command->name == "CANCEL") {
        context_.events.command(*this, *command);
    }
    // Unknown commands are skipped, as by libzmq, so that newer peers can talk to us.
}

void Session::on_ping(Bytes data) {
    const auto ping = zmtp::parse_ping(data);
    if (!ping) {
        return close_as(PeerEnding::violation, "malformed PING");
    }
    heartbeat_.set_ttl(milliseconds(100 * ping->ttl_deciseconds), reader_.bytes_received());
    const auto pong = [&](std::vector<std::byte>& out) {
        zmtp::append_pong(out, ping->context);
    };
    if (writer_.is_over() || writer_.add_command(pong) > 0) {
        return;
    }
    flush();  // a burst that arrived in one piece is allowed; PONGs that the stream then does not accept are not
    if (state_ != State::closed && writer_.add_command(pong) == 0) {
        close("peer does not read its PONGs");
    }
}

void Session::on_writable() {
    writer_.end_wait();
    flush();
}

void Session::flush() {
    writer_.mark_clean();
    if (state_ != State::closed && writer_.may_write()) {
        on_written(writer_.write(backlog_bytes_max()));
    }
}

void Session::on_written(Sender::Status status) {
    if (status == Sender::Status::failed) {
        // Data that has arrived must still be read; reading then finds the end and closes.
        return state_ == State::draining ? close_ended(writer_.error()) : readable_later_.schedule();
    }
    if (status == Sender::Status::done && state_ == State::draining) {
        // The peer reads to the end, then closes its side. If we closed ours first, unread data could be discarded.
        writer_.end();
    }
    if (context_.events.room && writer_.has_room_again(backlog_bytes_max())) {
        room_later_.schedule();  // not called here: the handler may send and flush
    }
}

void Session::notify_room() {
    writer_.end_room();
    if (state_ == State::open) {
        context_.events.room(*this);
    }
}

std::size_t Session::backlog_bytes_max() const noexcept {
    return outbox_->bytes_max_or(context_.options.backlog_bytes_max);
}

void Session::drain() {
    if (state_ == State::handshake) {
        close_as(PeerEnding::normal, "shutdown");
    } else if (state_ == State::open) {
        state_ = State::draining;
        if (writer_.state() == SessionWriter::State::failed) {
            return close_ended(writer_.error());
        }
        stream_->wait_readable();
        flush();
    }
}

void Session::close(std::string_view why) {
    close_as(PeerEnding::other, why);
}

void Session::cut_off() noexcept {
    outbox_->drop_all();
    writer_.end();
}

void Session::retire(std::string_view why) {
    if (state_ != State::open) {
        return;
    }
    if (retirement_) {
        return close_unread(PeerEnding::other, why);
    }
    retirement_.emplace(Retirement{std::string(why), steady_clock::now() + retiring_time()});
    outbox_->drop_all();
    writer_.end();
    readable_later_.schedule();  // not called here: the handler may receive
}

milliseconds Session::retiring_time() const noexcept {
    const SocketOptions& options = context_.options;
    const bool has_heartbeat = options.heartbeat_interval.count() > 0;
    return has_heartbeat ? std::min(limits::retiring_time_max, options.heartbeat_timeout) : limits::retiring_time_max;
}

void Session::set_held(bool held) noexcept {
    held_ = held;
    const Time now = steady_clock::now();
    writer_.set_failed_at(now);
    if (retirement_) {
        retirement_->end = now + retiring_time();
    }
}

bool Session::is_caught_up() const noexcept {
    return state_ == State::closed || (retirement_ && retirement_->caught_up);
}

/// Adds to the reason if data was left unread.
void Session::close_unread(PeerEnding ending, std::string_view why) {
    const bool is_all_read = (!retirement_ || is_caught_up()) && !reader_.has_untaken();
    if (is_all_read) {
        close_as(ending, why);
    } else {
        close(std::string(why) + ", unread data dropped");
    }
}

void Session::tick_retired(Time now) {
    if (held_ || now < retirement_->end) {
        return;
    }
    // The event loop itself may have been blocked until now.
    const bool is_done = is_caught_up() && !reader_.has_untaken();
    if (is_done || std::exchange(retirement_->overdue, true)) {
        close_unread(PeerEnding::other, retirement_->why);
    }
}

/// Returns how the connection ended: `error` is an errno value of its stream, or end_of_stream. `message` gets the text
/// of an error that is not a disconnection.
Session::End Session::end_by(int error, std::string& message) const {
    if (error != end_of_stream && !is_disconnection(error)) {
        message = std::generic_category().message(error);
        return {PeerEnding::other, message};
    }
    if (retirement_) {
        return {PeerEnding::other, retirement_->why};
    }
    const bool is_shutdown = error == end_of_stream && writer_.state() == SessionWriter::State::ended;
    return {PeerEnding::normal, is_shutdown ? "shutdown" : "peer disconnected"};
}

void Session::close_as(PeerEnding ending, std::string_view why) {
    if (state_ == State::closed) {
        return;
    }
    state_ = State::closed;
    ending_ = ending;
    const bool was_cut = writer_.close();
    if (origin_.keep_outbox) {
        outbox_->restart_partial(was_cut);
    } else {
        outbox_->drop_all();
    }
    context_.events.ended(*this, why);
}

void Session::close_ended(int error) {
    std::string message;
    const auto [ending, why] = end_by(error, message);
    close_as(ending, why);
}

void Session::tick(Time now) {
    if (!reader_.has_ahead()) {
        reader_.release();  // of an earlier iteration's batch
    }
    read_ahead();
    if (state_ == State::handshake && now - greeting_->started >= context_.options.handshake_time_max) {
        close("handshake timeout");
    } else if (state_ == State::draining) {
        // Data that the peer's machine has received can be read there after we have closed. (Some systems discard it if
        // the peer writes after that; Linux does not.)
        if (writer_.is_drained(now, limits::drained_time_max)) {
            close_as(PeerEnding::normal, "shutdown");
        }
    } else if (state_ == State::open && retirement_) {
        tick_retired(now);
    } else if (state_ == State::open && writer_.state() == SessionWriter::State::failed) {
        if (!held_ && now - writer_.failed_at() >= retiring_time()) {
            std::string message;
            const auto [ending, why] = end_by(writer_.error(), message);
            close_unread(ending, why);
        }
    } else if (state_ == State::open) {
        switch (heartbeat_.check(now, {reader_.bytes_received(), reader_.is_notified()})) {
            case Heartbeat::CheckResult::fine: break;
            case Heartbeat::CheckResult::closer: check_quiet_peer(now); break;
            case Heartbeat::CheckResult::silent: close_as(PeerEnding::silence, "heartbeat timeout");
        }
    }
}

void Session::check_quiet_peer(Time now) {
    Heartbeat::Signs signs;
    signs.bytes_written = writer_.bytes_written();
    signs.unacknowledged = std::min<std::uint64_t>(stream_->unacknowledged_bytes(), signs.bytes_written);
    signs.has_backlog = !outbox_->backlog().empty();
    if (signs.has_backlog || signs.unacknowledged > 0) {
        const std::int64_t ago_ms = stream_->acknowledged_ms_ago();
        signs.acknowledged_ago = ago_ms < 0 ? std::nullopt : std::optional(milliseconds(ago_ms));
    }
    switch (heartbeat_.classify(now, signs)) {
        case Heartbeat::Verdict::fine: break;
        case Heartbeat::Verdict::ping: send_ping(now); break;
        case Heartbeat::Verdict::silent: close_as(PeerEnding::silence, "heartbeat timeout");
    }
}

void Session::send_ping(Time now) {
    std::size_t wire_bytes = 0;
    if (!writer_.has_control()) {  // otherwise nothing has been sent since the last PING
        constexpr milliseconds::rep ttl_max = 650;
        const auto ttl = std::min(context_.options.heartbeat_timeout.count() / 100, ttl_max);
        const std::size_t bytes = writer_.add_command(
            [&](std::vector<std::byte>& out) { zmtp::append_ping(out, static_cast<std::uint16_t>(ttl), {}); });
        if (bytes > 0) {
            wire_bytes = cipher_ == nullptr ? bytes : zmtp::CurveCipher::sealed_bytes(bytes - 2);
            heartbeat_.ping_left(steady_clock::now());
        }
    }
    heartbeat_.ping_sent(now, wire_bytes);
    flush();
}

PeerStatus Session::status() const {
    PeerStatus status;
    status.id = origin_.id;
    status.endpoint = origin_.endpoint;
    status.peer = origin_.peer;
    status.identity = identity_;
    status.socket_type = zmtp::to_string(peer_.socket_type);
    status.mechanism = cipher_ == nullptr ? Mechanism::null : Mechanism::curve;
    status.curve_key = peer_.curve_key;
    status.curve_name = peer_.curve_name;
    status.zmtp_minor = peer_.minor;
    status.matched = outbox_->matched();
    status.sent = outbox_->sent();
    status.dropped = outbox_->dropped();
    status.losses = outbox_->losses();
    status.pending = outbox_->backlog().messages();
    status.backlog_bytes = outbox_->backlog().bytes();
    status.received = reader_.received();
    status.bytes_sent = writer_.bytes_written();
    status.bytes_received = reader_.bytes_received();
    status.silent = heartbeat_.silent(steady_clock::now(), reader_.bytes_received());
    status.round_trip = heartbeat_.round_trip();
    return status;
}

}  // namespace telegate
