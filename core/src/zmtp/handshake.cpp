#include "zmtp/handshake.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"

#include <algorithm>
#include <utility>

namespace telegate::zmtp {

namespace {

constexpr std::string_view mechanism = "NULL";

}  // namespace

Handshake::Handshake(HandshakeOptions options) : options_(std::move(options)), decoder_(limits::metadata_bytes_max) {
    TELEGATE_ASSERT(options_.identity.size() <= limits::identity_bytes_max);
    const Greeting greeting = make_greeting(mechanism, false);
    output_.assign(greeting.begin(), greeting.end());
}

Handshake::Status Handshake::feed(Bytes& input) {
    if (phase_ == Phase::greeting) {
        const Status status = feed_greeting(input);
        if (phase_ != Phase::ready) {
            return status;
        }
    }
    if (phase_ == Phase::ready) {
        return feed_ready(input);
    }
    return phase_ == Phase::done ? Status::done : Status::violation;
}

std::vector<std::byte> Handshake::take_output() {
    return std::exchange(output_, {});
}

/// Moves on to Phase::ready when the peer's greeting is complete and valid.
Handshake::Status Handshake::feed_greeting(Bytes& input) {
    const Bytes taken = input.first(std::min(input.size(), greeting_bytes - received_bytes_));
    std::copy(taken.begin(), taken.end(), received_.data() + received_bytes_);
    received_bytes_ += taken.size();
    input = input.subspan(taken.size());

    const GreetingResult result = check_greeting(Bytes(received_).first(received_bytes_), mechanism);
    if (result.status == GreetingStatus::violation) {
        return fail(result.fault);
    }
    if (result.status == GreetingStatus::ok) {
        peer_.minor = result.minor;
        append_ready(output_, options_.socket_type, options_.identity);
        phase_ = Phase::ready;
    }
    return Status::need_more;
}

Handshake::Status Handshake::feed_ready(Bytes& input) {
    const FeedStatus status = decoder_.feed(input);
    if (status == FeedStatus::need_more) {
        return Status::need_more;
    }
    if (status == FeedStatus::violation) {
        return fail(decoder_.fault());
    }
    const Frame& frame = decoder_.frame();
    const auto command = frame.is_command() ? parse_command(frame.body) : std::nullopt;
    if (!command || command->name != "READY") {
        // The reason inside an ERROR is the peer's text, so it stays out of our fault and of any log.
        return fail(command && command->name == "ERROR" ? "peer sent ERROR" : "first frame is not READY");
    }
    ReadyResult ready = parse_ready(command->data);
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

Handshake::Status Handshake::fail(std::string_view fault) noexcept {
    phase_ = Phase::failed;
    fault_ = fault;
    return Status::violation;
}

}  // namespace telegate::zmtp
