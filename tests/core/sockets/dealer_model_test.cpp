#include "core/sockets/socket_bench.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::size_t dealer_peers_max = 5;

std::size_t size_from(std::mt19937& random) {
    switch (random() % 20) {
        case 0: return 0;
        case 1: return 250 + random() % 10;
        case 2: return random() % 5'000;
        case 3: return 2'000 + random() % 60;
        default: return 1 + random() % 90;
    }
}

/// Returns the message with this number, which is in the first frame.
Frames message_of(std::size_t number) {
    std::mt19937 random(static_cast<std::uint32_t>(number));
    Frames frames{std::to_string(number)};
    for (std::size_t left = random() % 4 == 0 ? 1 + random() % 10 : 0; left > 0; --left) {
        frames.emplace_back(size_from(random), static_cast<char>('a' + random() % 26));
    }
    return frames;
}

/// A router with its own event loop, one of those that a dealer sends to.
struct RouterPeer {
    Reactor reactor;
    std::unique_ptr<Router> socket;
    std::string name;
    Endpoint endpoint;  // that one of the two connects to
    bool is_called = false;
    bool is_stalled = false;
    bool has_lost = false;  // it disconnected once with messages in flight to it
    std::vector<std::size_t> numbers;

    void start() {
        socket = std::make_unique<Router>(reactor, with_small_backlog(impatient(name)));
        if (is_called) {
            socket->bind(endpoint);
        } else {
            socket->connect(endpoint, {});
        }
    }
    void receive() {
        MessageBatch batch;
        while (socket->receive(batch)) {
            for (const Message message : batch) {
                const std::size_t number = std::stoul(std::string(message.text(0)));
                const Frames expected = message_of(number);
                REQUIRE(std::equal(message.begin(), message.end(), expected.begin(), expected.end(),
                                   [](const Bytes& frame, const std::string& text) { return as_text(frame) == text; }));
                REQUIRE((numbers.empty() || numbers.back() < number));
                numbers.push_back(number);
            }
        }
    }
};

/// A dealer, and what its peers have received from it.
class DealerModel {
  public:
    explicit DealerModel(std::uint32_t seed) : random_(seed), loses_nothing_(seed % 3 == 0) {
        for (const Transport transport : {Transport::tcp, Transport::ipc, Transport::inproc}) {
            endpoints_.push_back(dealer_.bind(fresh_endpoint(transport, scratch_.path())));
        }
        dealer_.set_on_writable([this] { is_blocked_ = false; });
    }

    void step() {
        switch (below(30)) {
            case 0:
            case 1: come(); break;
            case 2: below(3) == 0 ? leave() : come(); break;
            case 3: begin_again(); break;
            case 4: stall(); break;
            case 5:
            case 6:
            case 7: read(); break;
            case 8: dealer_.flush(); break;
            case 9: check(); break;
            case 10: turn_dealer(); break;
            default: send_some();
        }
    }
    void finish() {
        while (peers_.empty()) {
            come();
        }
        CHECK(turn_until([&] {
            for (RouterPeer& peer : peers_) {
                peer.receive();
            }
            return dealer_.totals().pending == 0 && !is_blocked_ && has_got_what_was_sent();
        }));
        check();
        std::vector<std::size_t> all = numbers_of_gone_;
        for (const RouterPeer& peer : peers_) {
            all.insert(all.end(), peer.numbers.begin(), peer.numbers.end());
        }
        std::sort(all.begin(), all.end());
        CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
        CHECK((all.empty() || all.back() < sent_));
        CHECK((!loses_nothing_ || all.size() == sent_));
    }

  private:
    [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }
    /// The peers send nothing, but receiving detects a lost connection sooner.
    void turn_dealer() {
        MessageBatch batch;
        dealer_reactor_.poll();
        CHECK_FALSE(dealer_.receive(batch));
    }
    template <class Condition>
    bool turn_until(const Condition& condition) {
        return eventually([&] {
            for (int times = 0; times < 10; ++times) {
                turn_dealer();
                for (RouterPeer& peer : peers_) {
                    peer.reactor.poll();
                }
                if (condition()) {
                    return true;
                }
            }
            return false;
        });
    }
    /// Returns whether the dealer has a connection to `name`.
    [[nodiscard]] bool is_there(const std::string& name) const {
        const auto all = dealer_.peers();
        return std::any_of(all.begin(), all.end(), [&](const PeerStatus& status) { return status.identity == name; });
    }
    [[nodiscard]] bool has_got_what_was_sent() {
        const auto all = dealer_.peers();
        return std::all_of(all.begin(), all.end(), [&](const PeerStatus& status) {
            const auto peer = std::find_if(peers_.begin(), peers_.end(),
                                           [&](const RouterPeer& one) { return one.name == status.identity; });
            return peer == peers_.end() || peer->has_lost || peer->numbers.size() == status.sent;
        });
    }

    void come() {
        if (peers_.size() == dealer_peers_max) {
            return;
        }
        RouterPeer& peer = peers_.emplace_back();
        peer.name = "peer" + std::to_string(names_++);
        peer.is_called = below(2) == 0;
        if (peer.is_called) {
            peer.endpoint = fresh_endpoint(below(2) == 0 ? Transport::ipc : Transport::inproc, scratch_.path());
            dealer_.connect(peer.endpoint);
            send_some();  // messages are queued for it before it exists
        } else {
            peer.endpoint = endpoints_[below(endpoints_.size())];
        }
        peer.start();
        REQUIRE(turn_until([&] { return is_there(peer.name); }));
    }
    [[nodiscard]] std::list<RouterPeer>::iterator any_peer() {
        return std::next(peers_.begin(), static_cast<std::ptrdiff_t>(below(peers_.size())));
    }
    void leave() {
        if (peers_.empty() || loses_nothing_) {
            return;
        }
        const auto leaving = any_peer();
        if (leaving->is_called) {
            CHECK(dealer_.disconnect(leaving->endpoint));
        } else {
            leaving->socket.reset();
        }
        REQUIRE(turn_until([&] { return !is_there(leaving->name); }));
        numbers_of_gone_.insert(numbers_of_gone_.end(), leaving->numbers.begin(), leaving->numbers.end());
        peers_.erase(leaving);
    }
    /// Closes a peer that the dealer connects to, and restarts it later: messages pending for it meanwhile are kept.
    void begin_again() {
        if (peers_.empty() || loses_nothing_) {
            return;
        }
        const auto peer = any_peer();
        if (!peer->is_called) {
            return;
        }
        peer->receive();
        peer->has_lost = true;
        peer->socket.reset();
        if (below(2) == 0) {
            REQUIRE(turn_until([&] { return !is_there(peer->name); }));
        }
        send_some();
        peer->start();
        REQUIRE(turn_until([&] { return is_there(peer->name) && peer->socket->peers().size() == 1; }));
    }
    void stall() {
        for (RouterPeer& peer : peers_) {
            peer.is_stalled = below(3) > 0;
        }
    }
    void read() {
        turn_dealer();
        for (RouterPeer& peer : peers_) {
            peer.reactor.poll();
            if (!peer.is_stalled) {
                peer.receive();
            }
        }
    }

    void send_some() {
        for (std::size_t left = 1 + below(20); left > 0; --left) {
            const Frames frames = message_of(sent_);
            const bool as_texts = below(2) == 0;
            SendStatus status = SendStatus::sent;
            if (as_texts && frames.size() == 1) {
                status = dealer_.send({frames[0]});
            } else if (as_texts && frames.size() == 2) {
                status = dealer_.send({frames[0], frames[1]});
            } else {
                status = send_frames(dealer_, frames);
            }
            if (status != SendStatus::sent) {
                is_blocked_ = true;
                CHECK((status == SendStatus::full || peers_.empty()));
                return;
            }
            ++sent_;
        }
    }

    void check() {
        for (const PeerStatus& status : dealer_.peers()) {
            CHECK(adds_up(status));
        }
        CHECK(dealer_.totals().matched == sent_);
        CHECK(adds_up(dealer_.totals()));
    }

    std::mt19937 random_;
    const bool loses_nothing_;  // no peer disconnects
    ScratchDir scratch_;
    Reactor dealer_reactor_;
    Dealer dealer_{dealer_reactor_, with_small_backlog(impatient("dealer"))};
    std::vector<Endpoint> endpoints_;
    std::list<RouterPeer> peers_;
    std::vector<std::size_t> numbers_of_gone_;
    std::size_t names_ = 0;
    std::size_t sent_ = 0;
    bool is_blocked_ = false;  // until on_writable
};

}  // namespace

TEST_CASE("whatever a dealer and its peers do, each message reaches one of them, in order and once",
          "[core][sockets][model]") {
    const auto seed = GENERATE(range(0U, 12U));
    CAPTURE(seed);
    DealerModel model(seed);
    for (int step = 0; step < 600; ++step) {
        model.step();
    }
    model.finish();
}
