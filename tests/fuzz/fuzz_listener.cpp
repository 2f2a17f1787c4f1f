// A bound publisher and a bound router that meet peers of arbitrary bytes, each next to a well-behaved peer. The first
// input byte selects the socket, whether the attackers' handshake is done for them, how many attackers share the bytes,
// and how they disconnect; the second selects how the bytes are split into pieces.
#include "core/assert.hpp"
#include "support/raw_peer.hpp"
#include "support/socket_harness.hpp"
#include "support/zmtp_text.hpp"
#include "zmtp/command.hpp"
#include "zmtp/decoder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

struct Plan {
    bool against_router;
    bool handshake_done;
    bool leaves_early;
    std::size_t attackers;
    std::size_t piece_bytes;
};

/// An identity that an attacker cannot guess: a peer that names it takes it over, and may do so.
constexpr std::string_view beside = "q7Vf0zXw3LkT9bRd5mNc1HyGs8JpUe24";

Endpoint abstract(std::string_view name) {
    return {Transport::ipc, {}, 0, "@telegate-fuzz-" + std::to_string(::getpid()) + std::string(name)};
}

PublisherOptions small_limits() {
    PublisherOptions options;
    options.message_bytes_max = 1'024;
    options.frames_per_message_max = 8;
    options.backlog_bytes_max = 4'096;
    options.segment_bytes = 1'024;
    options.subscriptions_per_peer_max = 8;
    options.subscription_bytes_per_peer_max = 128;
    options.handshakes_max = 2;
    return options;
}

/// Both sockets on one reactor, and the well-behaved peers.
class Listeners {
  public:
    Listeners() : publisher_(reactor_, small_limits()), router_(reactor_, small_limits()) {
        publisher_endpoint_ = publisher_.bind(abstract("publisher"));
        router_endpoint_ = router_.bind(abstract("router"));
        subscriber_ = std::make_unique<RawPeer>(publisher_endpoint_);
        dealer_ = std::make_unique<RawPeer>(router_endpoint_);
        subscriber_->send(greeting() + ready("SUB") + subscribe("number"));
        dealer_->send(greeting() + ready("DEALER", beside));
        settle();
        TELEGATE_ASSERT(publisher_.subscribers().size() == 1 && router_.peers().size() == 1);
    }

    [[nodiscard]] const Endpoint& endpoint(bool of_router) const {
        return of_router ? router_endpoint_ : publisher_endpoint_;
    }

    /// Runs everything that bytes in memory can cause; no deadline passes that soon.
    void settle() {
        for (int turn = 0; turn < 4; ++turn) {
            reactor_.poll();
            echo();
        }
    }

    /// Sends one more numbered message to each well-behaved peer; all earlier ones must have arrived.
    void exchange_number() {
        const std::string text = std::to_string(number_++);
        publisher_.send("number", text);
        published_ += message("number", text);
        dealer_->send(message("number", text));
        settle();
        TELEGATE_ASSERT(subscriber_->read() == publisher_hello() + published_);
        TELEGATE_ASSERT(dealer_->read() == greeting() + ready("ROUTER", "") + published_);
    }

    void check_ledger() const {
        TELEGATE_ASSERT(adds_up(publisher_.totals()) && adds_up(router_.totals()));
        for (const PeerStatus& peer : publisher_.subscribers()) {
            TELEGATE_ASSERT(adds_up(peer) && peer.subscriptions_count <= small_limits().subscriptions_per_peer_max);
        }
        for (const PeerStatus& peer : router_.peers()) {
            TELEGATE_ASSERT(adds_up(peer) && !peer.identity.empty() && peer.identity.size() <= 255);
        }
    }
    void check_alone() const {
        TELEGATE_ASSERT(publisher_.subscribers().size() == 1 && publisher_.totals().subscriptions == 1);
        TELEGATE_ASSERT(router_.peers().size() == 1);
    }

  private:
    /// Sends every received message back to its sender.
    void echo() {
        while (router_.receive(batch_)) {
            for (const Message one : batch_) {
                TELEGATE_ASSERT(one.size() >= 1 && one.size() <= small_limits().frames_per_message_max);
                const std::vector<Bytes> frames(one.begin(), one.end());
                static_cast<void>(router_.send(batch_.peer(), frames));  // the peer may be gone, or may not read
            }
        }
    }

    Reactor reactor_;
    Publisher publisher_;
    Router router_;
    MessageBatch batch_;
    Endpoint publisher_endpoint_;
    Endpoint router_endpoint_;
    std::unique_ptr<RawPeer> subscriber_;
    std::unique_ptr<RawPeer> dealer_;
    std::string published_;
    std::uint64_t number_ = 0;
};

/// Checks everything that we sent: our greeting, whole frames, only commands that a peer may receive, and never ERROR.
void check_said(const std::string& said) {
    const std::size_t greeted = std::min(said.size(), greeting().size());
    TELEGATE_ASSERT(said.substr(0, greeted) == greeting().substr(0, greeted));
    Bytes input = as_bytes(std::string_view(said).substr(greeted));
    zmtp::FrameDecoder decoder(1ULL << 30U);
    zmtp::FeedStatus status = zmtp::FeedStatus::frame_ready;
    while (!input.empty()) {
        status = decoder.feed(input);
        TELEGATE_ASSERT(status != zmtp::FeedStatus::violation);
        if (status == zmtp::FeedStatus::frame_ready && decoder.frame().is_command()) {
            const auto command = zmtp::parse_command(decoder.frame().body);
            TELEGATE_ASSERT(command && (command->name == "READY" || command->name == "PONG"));
        }
    }
}

void attack(Listeners& listeners, const Plan& plan, std::string_view bytes) {
    const std::string handshake = greeting() + (plan.against_router ? ready("DEALER", "attacker") : ready("SUB"));
    std::vector<RawPeer> attackers;
    for (std::size_t index = 0; index < plan.attackers; ++index) {
        attackers.emplace_back(listeners.endpoint(plan.against_router));
        attackers.back().send(plan.handshake_done ? handshake : "");
        listeners.settle();
    }
    for (std::size_t piece = 0; !bytes.empty(); ++piece) {
        RawPeer& peer = attackers[piece % attackers.size()];
        peer.send(bytes.substr(0, plan.piece_bytes));
        peer.read();
        bytes.remove_prefix(std::min(plan.piece_bytes, bytes.size()));
        listeners.settle();
    }
    if (!plan.leaves_early) {
        listeners.exchange_number();
        for (RawPeer& peer : attackers) {
            check_said(peer.read());
        }
    }
    listeners.check_ledger();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const Plan plan{(data[0] & 1U) != 0, (data[0] & 2U) != 0, (data[0] & 4U) != 0, 1U + ((data[0] >> 3U) & 3U),
                    1U + data[1] * data[1] / 8U};
    const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);

    Listeners listeners;
    listeners.exchange_number();
    attack(listeners, plan, bytes);
    listeners.settle();
    listeners.exchange_number();
    listeners.check_alone();
    listeners.check_ledger();
    return 0;
}
