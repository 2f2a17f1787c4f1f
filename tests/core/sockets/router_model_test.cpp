#include "core/limits.hpp"
#include "core/sockets/socket_bench.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::size_t router_peers_max = 6;

std::size_t wire_bytes(const Frames& frames) {
    std::size_t bytes = 0;
    for (const std::string& text : frames) {
        bytes += frame(0, text).size();
    }
    return bytes;
}

/// A dealer with its own event loop, and what a router should deliver to it, or did before its name was taken over.
struct DealerPeer {
    Reactor reactor;
    std::unique_ptr<Dealer> socket;
    std::string name;
    Endpoint endpoint;  // that it is bound to if the router uses an alias for it
    bool is_stalled = false;
    bool is_replaced = false;
    std::vector<Frames> messages;
    std::size_t received = 0;

    [[nodiscard]] bool is_alias() const { return socket != nullptr && !socket->endpoints().empty(); }
    void receive() {
        MessageBatch batch;
        while (socket->receive(batch)) {
            for (const Message message : batch) {
                REQUIRE(received < messages.size());
                const Frames& expected = messages[received++];
                REQUIRE(std::equal(message.begin(), message.end(), expected.begin(), expected.end(),
                                   [](const Bytes& frame, const std::string& text) { return as_text(frame) == text; }));
            }
        }
    }
};

/// The messages from all peers that had one name, one after another.
struct Heard {
    std::vector<std::string> texts;
    std::size_t looked_at = 0;
    std::size_t takeovers = 0;  // since everything was received
    bool may_be_lost = false;   // a peer disconnected with data in flight

    [[nodiscard]] bool is_all() const { return looked_at == texts.size(); }
};

/// A router, together with what each peer should receive from it and send to it.
class RouterModel {
  public:
    explicit RouterModel(std::uint32_t seed) : random_(seed) {
        for (const Transport transport : {Transport::tcp, Transport::ipc, Transport::inproc}) {
            endpoints_.push_back(router_.bind(fresh_endpoint(transport, scratch_.path())));
        }
        router_.set_monitor([this](const MonitorEvent& event) {
            if (event.kind == MonitorEventKind::handshake_done) {
                ++opened_[event.status->identity];
            }
        });
        router_.set_on_writable([this](std::string_view name) {
            full_.erase(std::string(name));
            ++told_;
        });
    }

    void step() {
        switch (below(30)) {
            case 0: come(fresh_name()); break;
            case 1: below(3) == 0 ? leave() : come(fresh_name()); break;
            case 2: take_over(); break;
            case 3: stall(); break;
            case 4:
            case 5:
            case 6: read(); break;
            case 7: router_.flush(); break;
            case 8: check(); break;
            case 9: check_unknown(); break;
            case 10: hear_router(); break;
            case 11: reactor_.poll(); break;
            case 12:
            case 13: report_to_router(); break;
            default: send_some();
        }
    }
    void finish() {
        CHECK(turn_until([&] {
            hear_router();
            for (DealerPeer& peer : peers_) {
                peer.receive();
            }
            return router_.totals().pending == 0 && full_.empty() && is_all_received() && is_all_heard();
        }));
        check();
    }

  private:
    [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }
    template <class Condition>
    bool turn_until(const Condition& condition) {
        return eventually([&] {
            for (int times = 0; times < 10; ++times) {
                reactor_.poll();
                for (DealerPeer& peer : peers_) {
                    peer.reactor.poll();
                }
                if (condition()) {
                    return true;
                }
            }
            return false;
        });
    }
    [[nodiscard]] bool is_all_received() const {
        return std::all_of(peers_.begin(), peers_.end(), [](const DealerPeer& peer) {
            return peer.is_replaced || peer.received == peer.messages.size();
        });
    }
    [[nodiscard]] bool is_all_heard() const {
        return std::all_of(heard_.begin(), heard_.end(),
                           [](const auto& heard) { return heard.second.is_all() || heard.second.may_be_lost; });
    }

    /// Returns names of the usual length, and unusual ones with a long common part.
    [[nodiscard]] std::string fresh_name() {
        std::string name = std::string(below(4) == 0 ? below(60) : below(12), 'n') + std::to_string(names_++);
        return name;
    }
    [[nodiscard]] DealerPeer* any_peer() {
        std::vector<DealerPeer*> all;
        for (DealerPeer& peer : peers_) {
            if (!peer.is_replaced) {
                all.push_back(&peer);
            }
        }
        return all.empty() ? nullptr : all[below(all.size())];
    }
    [[nodiscard]] std::size_t there() const {
        return static_cast<std::size_t>(
            std::count_if(peers_.begin(), peers_.end(), [](const DealerPeer& peer) { return !peer.is_replaced; }));
    }

    DealerPeer& add(const std::string& name, bool is_alias) {
        DealerPeer& peer = peers_.emplace_back();
        peer.name = name;
        SocketOptions options = with_small_backlog({});
        options.identity = is_alias ? "" : name;
        // a replaced peer does not reconnect
        options.reconnect_first = options.reconnect_max = std::chrono::minutes(1);
        peer.socket = std::make_unique<Dealer>(peer.reactor, options);
        return peer;
    }
    void come(const std::string& name) {
        if (there() >= router_peers_max) {
            return;
        }
        const bool is_alias = below(3) == 0;
        DealerPeer& peer = add(name, is_alias);
        if (is_alias) {
            peer.endpoint =
                peer.socket->bind(fresh_endpoint(below(2) == 0 ? Transport::ipc : Transport::inproc, scratch_.path()));
            router_.connect(peer.endpoint, name);
            // Messages may be sent to it before it is connected.
            for (std::size_t left = below(5); left > 0; --left) {
                send(peer);
            }
            REQUIRE(turn_until([&] { return peer.socket->peers().size() == 1; }));
        } else {
            connect(peer);
        }
    }
    void connect(DealerPeer& peer) {
        const std::size_t before = told_;
        peer.socket->connect(endpoints_[below(endpoints_.size())]);
        REQUIRE(turn_until([&] { return told_ > before && status_of(peer.name) != nullptr; }));
    }
    /// Connects a peer with the name of another one that is still connected.
    void take_over() {
        DealerPeer* const older = any_peer();
        if (older == nullptr || older->is_alias()) {
            return;
        }
        Heard& heard = heard_[older->name];
        if (heard.takeovers == 3) {  // more would be closed
            REQUIRE(turn_until([&] {
                hear_router();
                return heard.is_all();
            }));
        }
        ++heard.takeovers;
        REQUIRE(turn_until([&] { return older->socket->totals().pending == 0; }));
        const std::size_t before = opened_[older->name];  // reading the counts would change what is tested
        DealerPeer& newer = add(older->name, false);
        newer.socket->connect(endpoints_[below(endpoints_.size())]);
        REQUIRE(turn_until([&] { return opened_[newer.name] > before; }));
        older->is_replaced = true;
        full_.erase(older->name);
    }
    void leave() {
        DealerPeer* const leaving = any_peer();
        if (leaving == nullptr) {
            return;
        }
        const std::string name = leaving->name;
        if (leaving->is_alias()) {
            router_.disconnect(leaving->endpoint);
        } else {
            leaving->socket.reset();
        }
        heard_[name].may_be_lost = true;
        peers_.remove_if([&](const DealerPeer& peer) { return peer.name == name; });
        REQUIRE(turn_until([&] {
            hear_router();
            return status_of(name) == nullptr;
        }));
        full_.erase(name);
        CHECK(send_frames(router_, {"nobody"}, name) == SendStatus::unknown_peer);
    }
    void stall() {
        for (DealerPeer& peer : peers_) {
            peer.is_stalled = below(3) > 0;
        }
    }
    void read() {
        reactor_.poll();
        for (DealerPeer& peer : peers_) {
            peer.reactor.poll();
            if (!peer.is_stalled) {
                peer.receive();
            }
        }
    }

    void send_some() {
        if (DealerPeer* const peer = any_peer()) {
            for (std::size_t left = 1 + below(15); left > 0; --left) {
                send(below(5) == 0 ? *any_peer() : *peer);
            }
        }
    }
    void send(DealerPeer& peer) {
        Frames frames(below(4) == 0 ? 1 + below(11) : 1);
        for (std::string& text : frames) {
            text = std::to_string(sent_);
            text.resize(any_size(), static_cast<char>('a' + sent_ % 26));
        }
        const SendStatus status = send_by_either(peer.name, frames);
        if (status == SendStatus::sent) {
            peer.messages.push_back(frames);
            ++sent_;
            return;
        }
        REQUIRE(status == SendStatus::full);
        full_.insert(peer.name);
        if (const auto found = status_of(peer.name)) {
            CHECK(found->pending > 0);
            CHECK(found->backlog_bytes + wire_bytes(frames) > model_backlog_bytes);
        }
    }
    [[nodiscard]] SendStatus send_by_either(const std::string& name, const Frames& frames) {
        const bool as_texts = below(2) == 0;
        if (as_texts && frames.size() == 1) {
            return router_.send(name, {frames[0]});
        }
        if (as_texts && frames.size() == 2) {
            return router_.send(name, {frames[0], frames[1]});
        }
        if (as_texts && frames.size() == 3) {
            return router_.send(name, {frames[0], frames[1], frames[2]});
        }
        return send_frames(router_, frames, name);
    }
    [[nodiscard]] std::size_t any_size() {
        switch (below(20)) {
            case 0: return 0;
            case 1: return 250 + below(10);
            case 2: return below(5'000);
            case 3: return 2'000 + below(60);
            default: return 1 + below(90);
        }
    }
    /// Also in the middle of sending to a peer with nearly the same name.
    void check_unknown() {
        if (DealerPeer* const peer = any_peer()) {
            send(*peer);
            send(*peer);
            for (const std::size_t at : {std::size_t{0}, peer->name.size() / 2, peer->name.size() - 1}) {
                std::string other = peer->name;
                other[at] = 'x';
                CHECK(router_.send(other, {"x"}) == SendStatus::unknown_peer);
                CHECK(router_.send(other, {"x", "y"}) == SendStatus::unknown_peer);
            }
            CHECK(send_frames(router_, {"x"}, peer->name + "x") == SendStatus::unknown_peer);
        }
    }

    void report_to_router() {
        if (DealerPeer* const peer = any_peer()) {
            for (std::size_t left = 1 + below(4); left > 0; --left) {
                std::string text = std::to_string(told_to_router_++);
                text.resize(text.size() + below(below(8) == 0 ? 4'000 : 20), '.');
                if (peer->socket->send({"from", text}) == SendStatus::sent) {
                    heard_[peer->name].texts.push_back(text);
                }
            }
        }
    }
    void hear_router() {
        MessageBatch batch;
        while (router_.receive(batch)) {
            Heard& heard = heard_.at(std::string(batch.peer()));
            for (const Message message : batch) {
                while (heard.may_be_lost && !heard.is_all() && heard.texts[heard.looked_at] != message.text(1)) {
                    ++heard.looked_at;
                }
                REQUIRE_FALSE(heard.is_all());
                REQUIRE(heard.texts[heard.looked_at++] == message.text(1));
            }
            heard.takeovers = heard.is_all() ? 0 : heard.takeovers;
        }
    }

    void check() {
        for (const PeerStatus& status : router_.peers()) {
            CHECK(adds_up(status));
            CHECK((status.backlog_bytes <= model_backlog_bytes || status.pending == 1));
        }
        const SocketTotals totals = router_.totals();
        CHECK(totals.matched == sent_);
        CHECK(adds_up(totals));
    }
    /// Returns the status of the latest peer with this name.
    [[nodiscard]] std::unique_ptr<PeerStatus> status_of(const std::string& name) const {
        std::unique_ptr<PeerStatus> found;
        for (PeerStatus& status : router_.peers()) {
            if (status.identity == name && (found == nullptr || status.id > found->id)) {
                found = std::make_unique<PeerStatus>(status);
            }
        }
        return found;
    }

    std::mt19937 random_;
    ScratchDir scratch_;
    Reactor reactor_;
    Router router_{reactor_, with_small_backlog({})};
    std::vector<Endpoint> endpoints_;
    std::list<DealerPeer> peers_;
    std::map<std::string, Heard> heard_;
    std::set<std::string> full_;  // until on_writable
    std::map<std::string, std::size_t> opened_;
    std::size_t told_ = 0;
    std::size_t names_ = 0;
    std::uint64_t sent_ = 0;
    std::size_t told_to_router_ = 0;
};

}  // namespace

TEST_CASE("whatever a router and its peers do, each gets what it should, in order and once", "[core][sockets][model]") {
    const auto seed = GENERATE(range(0U, 12U));
    CAPTURE(seed);
    RouterModel model(seed);
    for (int step = 0; step < 1'000; ++step) {
        model.step();
    }
    model.finish();
}
