#include "session.hpp"

#include "core/limits.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace telegate {
namespace {

std::string_view as_text(zmtp::Bytes bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Session::Session(SessionContext& context, Arrival arrival)
    : context_(context),
      descriptor_(context.io),
      deadline_(context.io),
      id_(arrival.id),
      endpoint_(std::move(arrival.endpoint)),
      peer_(std::move(arrival.peer)),
      handshake_(std::in_place, zmtp::HandshakeOptions{zmtp::SocketType::pub, {}}),
      decoder_(limits::frame_bytes_max),
      subscriptions_total_(context.subscriptions),
      backlog_(limits::backlog_runs_max) {
    descriptor_.assign(arrival.descriptor.get());
    (void)arrival.descriptor.release();  // ours only now: assign() throws when the system can watch no more
}

void Session::start() {
    deadline_.expires_after(context_.handshake_time_max);
    deadline_.async_wait([self = shared_from_this()](const ErrorCode& error) {
        if (!error && self->state_ == State::handshake) {
            self->close("no handshake in time");
        }
    });
    control_ = handshake_->take_output();
    flush();
    if (state_ != State::closed) {
        wait_readable();
    }
}

bool Session::matches(std::string_view topic) const noexcept {
    return state_ == State::open && subscriptions_.matches(topic);
}

bool Session::add(const Slice& message) {
    ++matched_;
    dropped_ += backlog_.add(message);
    return !std::exchange(dirty_, true);
}

void Session::give_up_before(std::uint64_t log_position) {
    dropped_ += backlog_.give_up_before(log_position);
}

void Session::drain() {
    if (state_ == State::handshake) {
        close("shutdown");
    } else if (state_ == State::open) {
        state_ = State::draining;
        flush();
        end_stream_when_drained();
    }
}

void Session::close(std::string_view why) {
    if (state_ == State::closed) {
        return;
    }
    state_ = State::closed;
    dropped_ += backlog_.give_up_all();
    deadline_.cancel();
    ErrorCode ignored;
    descriptor_.close(ignored);
    context_.ended(*this, why);
}

SubscriberStatus Session::status() const {
    SubscriberStatus status;
    status.id = id_;
    status.endpoint = endpoint_;
    status.peer = peer_;
    status.subscriptions = subscriptions_.some(subscriptions_shown_max);
    status.subscriptions_count = subscriptions_.size();
    status.matched = matched_;
    status.sent = sent_;
    status.dropped = dropped_;
    status.pending = backlog_.messages();
    status.backlog_bytes = backlog_.bytes();
    return status;
}

void Session::wait_readable() {
    descriptor_.async_wait(Descriptor::wait_read, [self = shared_from_this()](const ErrorCode& error) {
        if (!error && self->state_ != State::closed) {
            self->on_readable();
        }
    });
}

void Session::wait_writable() {
    if (std::exchange(waiting_writable_, true)) {
        return;
    }
    descriptor_.async_wait(Descriptor::wait_write, [self = shared_from_this()](const ErrorCode& error) {
        self->waiting_writable_ = false;
        if (!error && self->state_ != State::closed) {
            self->flush();
            self->end_stream_when_drained();
        }
    });
}

void Session::on_readable() {
    std::vector<std::byte>& buffer = context_.receive_buffer;
    for (std::size_t received = 0; received < limits::read_bytes_per_turn && state_ != State::closed;) {
        const ssize_t bytes = ::recv(descriptor_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (bytes == 0) {
            return close("peer left");
        }
        if (bytes < 0) {
            if (errno == EAGAIN || errno == EWOULDBLOCK) {
                break;
            }
            return close(std::strerror(errno));
        }
        received += static_cast<std::size_t>(bytes);
        receive(zmtp::Bytes(buffer.data(), static_cast<std::size_t>(bytes)));
    }
    if (state_ != State::closed) {
        wait_readable();
    }
}

void Session::receive(zmtp::Bytes input) {
    if (state_ == State::handshake) {
        shake_hands(input);
    }
    while (!input.empty() && (state_ == State::open || state_ == State::draining)) {
        switch (decoder_.feed(input)) {
            case zmtp::FeedStatus::need_more: break;
            case zmtp::FeedStatus::frame_ready: on_frame(decoder_.frame()); break;
            case zmtp::FeedStatus::violation: return close(decoder_.fault());
        }
    }
    if (state_ != State::closed && !control_.empty()) {
        flush();
    }
}

void Session::shake_hands(zmtp::Bytes& input) {
    const zmtp::Handshake::Status status = handshake_->feed(input);
    if (status == zmtp::Handshake::Status::violation) {
        return close(handshake_->fault());
    }
    const std::vector<std::byte> output = handshake_->take_output();
    control_.insert(control_.end(), output.begin(), output.end());
    if (status == zmtp::Handshake::Status::done) {
        handshake_.reset();
        deadline_.cancel();
        state_ = State::open;
        context_.opened(*this);
    }
}

void Session::on_frame(const zmtp::Frame& frame) {
    if (const auto subscription = zmtp::parse_subscription(frame)) {
        on_subscription(*subscription);
    } else if (frame.is_command()) {
        on_command(frame);
    }
    // Anything else is data sent upstream to a publisher, which nobody here reads.
}

void Session::on_command(const zmtp::Frame& frame) {
    const auto command = zmtp::parse_command(frame.body);
    if (!command) {
        return close("malformed command");
    }
    if (command->name == "PING") {
        const auto ping = zmtp::parse_ping(command->data);
        if (!ping) {
            return close("malformed PING");
        }
        if (control_.size() > limits::control_bytes_max) {
            flush();  // a burst that came in one piece is no fault; what the socket does not take is
        }
        if (control_.size() > limits::control_bytes_max) {
            return close("does not read its PONGs");
        }
        zmtp::append_pong(control_, ping->context);
    } else if (command->name == "ERROR" || command->name == "READY") {
        return close("handshake command after the handshake");
    }
    // Unknown commands are skipped, as libzmq does, so that newer peers can talk to us.
}

void Session::on_subscription(const zmtp::Subscription& subscription) {
    const std::string_view prefix = as_text(subscription.prefix);
    bool changed = false;
    if (subscription.kind == zmtp::Subscription::Kind::subscribe) {
        const auto result = subscriptions_.insert(prefix);
        context_.subscriptions_refused += result == SubscriptionSet::Insert::refused ? 1 : 0;
        changed = result == SubscriptionSet::Insert::added;
    } else {
        changed = subscriptions_.erase(prefix);
    }
    if (changed) {
        context_.subscriptions_changed();
    }
}

void Session::flush() {
    dirty_ = false;
    if (waiting_writable_ || stream_ended_ || state_ == State::closed) {
        return;
    }
    std::size_t budget = limits::write_bytes_per_turn;
    while (!(control_.empty() && backlog_.empty())) {
        if (budget == 0) {
            return wait_writable();  // comes back in the next turn of the loop
        }
        if (!send_once(budget)) {
            return;
        }
    }
}

/// One gather write. False when the socket is full, and then waiting, or dead.
bool Session::send_once(std::size_t& budget) {
    std::array<iovec, gather_max> parts;
    std::size_t count = 0;
    if (!control_.empty() && backlog_.at_boundary()) {
        parts[count++] = {control_.data() + control_sent_, control_.size() - control_sent_};
    }
    const std::size_t first_of_backlog = count;
    count += backlog_.gather(std::span(parts).subspan(count));
    if (!control_.empty() && !backlog_.at_boundary()) {
        count = 1;  // only the rest of the message under way, then the command's turn comes
        parts[first_of_backlog].iov_len = backlog_.bytes_to_boundary();
    }
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < count; ++i) {
        wanted += parts[i].iov_len;
    }
    msghdr header{};
    header.msg_iov = parts.data();
    header.msg_iovlen = count;
    const ssize_t written = ::sendmsg(descriptor_.native_handle(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (written < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            wait_writable();
        } else {
            close(errno == EPIPE || errno == ECONNRESET ? "peer left" : std::strerror(errno));
        }
        return false;
    }
    const auto bytes = static_cast<std::size_t>(written);
    sent(bytes);
    budget -= std::min(budget, bytes);
    if (bytes < wanted) {
        wait_writable();
        return false;
    }
    return true;
}

void Session::sent(std::size_t bytes) {
    if (!control_.empty() && backlog_.at_boundary()) {
        const std::size_t part = std::min(bytes, control_.size() - control_sent_);
        control_sent_ += part;
        bytes -= part;
        if (control_sent_ == control_.size()) {
            control_.clear();
            control_sent_ = 0;
        }
    }
    sent_ += backlog_.consume(bytes);
}

void Session::end_stream_when_drained() {
    if (state_ == State::draining && !stream_ended_ && control_.empty() && backlog_.empty()) {
        stream_ended_ = true;
        // The peer reads to the end, then closes its side; closing ours first could discard what it has not read.
        ::shutdown(descriptor_.native_handle(), SHUT_WR);
    }
}

}  // namespace telegate
