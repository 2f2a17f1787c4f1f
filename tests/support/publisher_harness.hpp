#pragma once

#include "core/publisher.hpp"
#include "support/eventually.hpp"
#include "support/raw_peer.hpp"
#include "support/scratch_dir.hpp"
#include "support/zmtp_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::test {

/// Returns whether matched = sent + dropped + pending.
[[nodiscard]] inline bool adds_up(const PeerStatus& status) {
    return status.matched == status.sent + status.dropped + status.pending;
}
[[nodiscard]] inline bool adds_up(const PublisherTotals& totals) {
    return totals.matched == totals.sent + totals.dropped + totals.pending;
}

/// A bound publisher whose reactor is run by the test: everything happens in one thread, under the control of the test.
/// It sends no heartbeats by default, because RawPeer does not reply to them.
class PublisherHarness {
  public:
    explicit PublisherHarness(PublisherOptions options = {}, Transport transport = Transport::tcp) {
        if (options.heartbeat_interval == limits::heartbeat_interval) {
            options.heartbeat_interval = {};
        }
        publisher = std::make_unique<Publisher>(reactor, std::move(options));
        publisher->set_monitor([this](const MonitorEvent& event) {
            record(event);
            on_event(event);
        });
        Endpoint wanted;
        wanted.transport = transport;
        wanted.host = transport == Transport::tcp ? "127.0.0.1" : "";
        wanted.path = transport == Transport::ipc ? scratch.path("pub.sock") : "";
        endpoint = publisher->bind(wanted);
    }

    /// Runs the reactor until nothing more can happen.
    void turn() { reactor.poll(); }
    template <class Condition>
    [[nodiscard]] bool turn_until(Condition condition) {
        return eventually([&] {
            turn();
            return condition();
        });
    }

    RawPeer connect(int receive_buffer_bytes = 0) { return RawPeer(endpoint, receive_buffer_bytes, source); }
    /// Connects a peer and completes its handshake and subscriptions. Its received() begins with publisher_hello().
    RawPeer subscriber(std::initializer_list<std::string_view> prefixes = {""}, int receive_buffer_bytes = 0) {
        RawPeer peer = connect(receive_buffer_bytes);
        std::string bytes = greeting() + ready("SUB");
        for (const std::string_view prefix : prefixes) {
            bytes += subscribe(prefix);
        }
        peer.send(bytes);
        const std::size_t wanted = prefixes.size();
        const std::size_t before = arrivals.size();
        const bool has_joined =
            turn_until([&] { return arrivals.size() > before && last_status().subscriptions_count == wanted; }) &&
            turn_until(
                [&] { return peer.read(publisher_hello().size() - peer.received().size()) == publisher_hello(); });
        if (!has_joined) {
            throw std::runtime_error("a subscriber did not join in time");
        }
        return peer;
    }

    /// Reads until the publisher has closed the connection.
    bool is_cut(RawPeer& peer) {
        return turn_until([&] {
            peer.read();
            return peer.at_end();
        });
    }
    /// Returns whether a new subscriber is served normally.
    bool serves() {
        RawPeer peer = subscriber({"check"});
        publish("check", "x");
        return turn_until([&] { return peer.read() == publisher_hello() + message("check", "x"); });
    }

    void commit(std::string_view topic, std::string_view payload) {
        char* room = publisher->prepare(publisher->intern(topic), payload.size());
        std::memcpy(room, payload.data(), payload.size());
        publisher->commit(payload.size());
    }
    /// A message in flight.
    void publish(std::string_view topic, std::string_view payload) {
        commit(topic, payload);
        publisher->flush();
        turn();
    }

    [[nodiscard]] PeerStatus last_status() const {
        const auto all = publisher->subscribers();
        return all.empty() ? PeerStatus{} : all.back();
    }
    [[nodiscard]] PublisherTotals totals() const { return publisher->totals(); }
    /// Returns the reason why the last session ended.
    [[nodiscard]] std::string reason() const { return reasons.empty() ? "" : reasons.back(); }

    /// Returns how many events of this kind occurred.
    [[nodiscard]] std::size_t count(MonitorEventKind kind) const {
        return static_cast<std::size_t>(std::count(events.begin(), events.end(), kind));
    }

    ScratchDir scratch;
    Reactor reactor;
    std::function<void(const MonitorEvent&)> on_event = [](const MonitorEvent&) {
    };  // once it is recorded
    std::vector<MonitorEventKind> events;
    std::vector<PeerStatus> arrivals;
    std::vector<PeerStatus> departures;
    std::vector<std::string> reasons;
    std::uint64_t drops_reported = 0;
    std::unique_ptr<Publisher> publisher;
    std::string source;  // address from which connect() connects; "": any
    Endpoint endpoint;

  private:
    void record(const MonitorEvent& event) {
        events.push_back(event.kind);
        switch (event.kind) {
            case MonitorEventKind::handshake_done: arrivals.push_back(*event.status); break;
            case MonitorEventKind::disconnected:
                departures.push_back(*event.status);
                reasons.emplace_back(event.detail);
                break;
            case MonitorEventKind::handshake_failed:
            case MonitorEventKind::refused:
            case MonitorEventKind::accept_failed: reasons.emplace_back(event.detail); break;
            case MonitorEventKind::dropped: drops_reported += event.count; break;
            default: break;
        }
    }
};

}  // namespace telegate::test
