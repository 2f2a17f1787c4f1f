#include "zmtp/handshake.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "zmtp/curve_handshake.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace telegate::zmtp {

namespace {

[[nodiscard]] std::string_view mechanism_of(const Security& security) noexcept {
    return to_string(std::holds_alternative<std::monostate>(security) ? Mechanism::null : Mechanism::curve);
}

}  // namespace

Handshake::Handshake(HandshakeOptions options) : options_(std::move(options)), decoder_(limits::metadata_bytes_max) {
    TELEGATE_ASSERT(options_.identity.size() <= limits::identity_bytes_max);
    if (!std::holds_alternative<std::monostate>(options_.security)) {
        std::vector<std::byte> metadata;
        append_metadata(metadata, options_.socket_type, options_.identity);
        curve_ = std::make_unique<CurveHandshake>(options_.security, std::move(metadata));
    }
    const bool as_server = std::holds_alternative<CurveServer>(options_.security);
    const Greeting greeting = make_greeting(mechanism_of(options_.security), as_server);
    output_.assign(greeting.begin(), greeting.end());
}

Handshake::~Handshake() = default;

Handshake::Status Handshake::feed(Bytes& input) {
    if (phase_ == Phase::greeting) {
        const Status status = feed_greeting(input);
        if (phase_ != Phase::commands) {
            return status;
        }
    }
    if (phase_ == Phase::commands) {
        return feed_commands(input);
    }
    return phase_ == Phase::done ? Status::done : Status::violation;
}

std::vector<std::byte> Handshake::take_output() {
    return std::exchange(output_, {});
}

std::unique_ptr<CurveCipher> Handshake::take_cipher() noexcept {
    return std::move(cipher_);
}

/// Continues with Phase::commands if the peer's greeting is complete and valid.
Handshake::Status Handshake::feed_greeting(Bytes& input) {
    const Bytes taken = input.first(std::min(input.size(), greeting_bytes - received_bytes_));
    std::copy(taken.begin(), taken.end(), received_.data() + received_bytes_);
    received_bytes_ += taken.size();
    input = input.subspan(taken.size());

    const GreetingResult result =
        check_greeting(Bytes(received_).first(received_bytes_), mechanism_of(options_.security));
    if (result.status == GreetingStatus::violation) {
        return fail(result.fault);
    }
    if (result.status == GreetingStatus::need_more) {
        return Status::need_more;
    }
    peer_.minor = result.minor;
    phase_ = Phase::commands;
    return start_commands();
}

Handshake::Status Handshake::start_commands() {
    if (!curve_) {
        append_ready(output_, options_.socket_type, options_.identity);
        return Status::need_more;
    }
    return curve_->start(output_) == CurveHandshake::Status::violation ? fail(curve_->fault()) : Status::need_more;
}

Handshake::Status Handshake::feed_commands(Bytes& input) {
    Status status = Status::need_more;
    while (status == Status::need_more) {
        const FeedStatus fed = decoder_.feed(input);
        if (fed == FeedStatus::need_more) {
            return Status::need_more;
        }
        status = fed == FeedStatus::violation ? fail(decoder_.fault()) : receive_frame(decoder_.frame());
    }
    return status;
}

Handshake::Status Handshake::receive_frame(const Frame& frame) {
    const auto command = frame.is_command() ? parse_command(frame.body) : std::nullopt;
    if (command && command->name == "ERROR") {
        // The reason in ERROR is the peer's text, so it is neither part of our fault nor logged.
        return fail("peer sent ERROR");
    }
    if (curve_) {
        return command ? receive_curve(*command) : fail("handshake frame is not a command");
    }
    return command && command->name == "READY" ? receive_metadata(command->data) : fail("first frame is not READY");
}

Handshake::Status Handshake::receive_curve(const Command& command) {
    const CurveHandshake::Status taken = curve_->receive(command, output_);
    peer_.curve_key = curve_->peer_key();
    if (taken == CurveHandshake::Status::violation) {
        return fail(curve_->fault());
    }
    if (taken == CurveHandshake::Status::need_more) {
        return Status::need_more;
    }
    const Status status = receive_metadata(curve_->peer_metadata());
    if (status == Status::done) {
        peer_.curve_name = curve_->peer_name();
        cipher_ = curve_->finish(output_);
        curve_.reset();
    }
    return status;
}

Handshake::Status Handshake::receive_metadata(Bytes data) {
    ReadyResult ready = parse_ready(data);
    if (!ready.properties) {
        return fail(ready.fault);
    }
    const SocketType theirs = *ready.properties->socket_type;
    if (!compatible(options_.socket_type, theirs)) {
        return fail("socket types do not match");
    }
    peer_.socket_type = theirs;
    peer_.identity = std::move(ready.properties->identity);
    phase_ = Phase::done;
    return Status::done;
}

/// `fault` must be a string literal: fault_ still refers to it after curve_, which may have returned it, is destroyed.
Handshake::Status Handshake::fail(std::string_view fault) noexcept {
    phase_ = Phase::failed;
    fault_ = fault;
    curve_.reset();
    return Status::violation;
}

}  // namespace telegate::zmtp
