#pragma once

#include "core/endpoint.hpp"
#include "support/eventually.hpp"
#include "support/raw_listener.hpp"
#include "support/raw_peer.hpp"
#include "transport/workload.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace telegate::test {

/// A proxy between a sender and a receiver that connects to it over tcp; it records the transferred bytes.
/// Threads: one. Limits: one connection. Failure: throws std::runtime_error if it cannot listen or connect.
class Tap {
  public:
    explicit Tap(const std::string& sender) : sender_endpoint_(std::get<Endpoint>(parse_endpoint(sender))) {}

    /// Returns the endpoint for the receiver.
    [[nodiscard]] std::string address() const { return to_string(listener_.endpoint()); }
    /// Forwards the bytes that have arrived.
    void pump() {
        if (!receiver_) {
            if (std::optional<RawPeer> came = listener_.accept()) {
                receiver_.emplace(std::move(*came));
                sender_.emplace(sender_endpoint_);
            }
            return;
        }
        forward(*receiver_, *sender_, receiver_forwarded_);
        forward(*sender_, *receiver_, sender_forwarded_);
    }

    [[nodiscard]] std::string from_sender() const { return sender_ ? sender_->received() : std::string(); }
    [[nodiscard]] std::string from_receiver() const { return receiver_ ? receiver_->received() : std::string(); }

  private:
    static void forward(RawPeer& from, RawPeer& to, std::size_t& forwarded) {
        const std::string& all = from.read();
        to.send(std::string_view(all).substr(forwarded));
        forwarded = all.size();
    }

    const Endpoint sender_endpoint_;
    RawListener listener_;
    std::optional<RawPeer> receiver_;
    std::optional<RawPeer> sender_;
    std::size_t receiver_forwarded_ = 0;
    std::size_t sender_forwarded_ = 0;
};

/// The text sent over a tap. The message number replaces its first bytes.
inline const std::string tapped_text = "********sealed or not, this is what is sent";

/// Returns the bytes transferred until the receiver had the text.
struct Tapped {
    [[nodiscard]] bool shows_the_text() const { return from_sender.find(tapped_text.substr(8)) != std::string::npos; }

    std::string from_sender;
    std::string from_receiver;
    bool has_arrived = false;
};

/// Performs the handshake over a tap with the link's own sockets, as a run does before its clock starts.
template <class Sender, class Receiver, class Shared>
[[nodiscard]] Tapped greet_over_tap(const perf::Workload& work, Shared& shared) {
    Sender sender(shared, work);
    Tap tap(sender.address());
    Receiver receiver(shared, work, tap.address(), 0);
    perf::Checker checker(work, 0);
    std::vector<char> payload(tapped_text.begin(), tapped_text.end());
    payload.resize(work.size);
    perf::stamp(payload, perf::hello_number);
    Tapped tapped;
    tapped.has_arrived = eventually([&] {
        sender.greet({payload.data(), payload.size()});
        sender.turn();
        tap.pump();
        (void)receiver.receive(checker);
        tap.pump();
        return checker.is_greeted();
    });
    tapped.from_sender = tap.from_sender();
    tapped.from_receiver = tap.from_receiver();
    return tapped;
}

/// Returns the mechanism in a ZMTP greeting.
[[nodiscard]] inline std::string mechanism_in(const std::string& greeting) {
    constexpr std::size_t at = 12;
    constexpr std::size_t bytes = 20;
    return greeting.size() < at + bytes ? std::string() : std::string(greeting.substr(at, bytes).c_str());
}

}  // namespace telegate::test
