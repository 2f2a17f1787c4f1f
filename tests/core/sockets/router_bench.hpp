#pragma once

#include "core/sockets/socket_bench.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::test {

/// A bound router.
class RouterBench : public Bench {
  public:
    explicit RouterBench(Transport transport = Transport::ipc, SocketOptions options = {})
        : router(reactor, std::move(options)), inbox(router) {
        router.set_monitor(events.handler());
        endpoint = router.bind(fresh_endpoint(transport, scratch.path()));
    }
    RawSession raw(std::string_view type, std::string_view identity, int receive_buffer_bytes = 0) {
        const std::size_t before = events.count(MonitorEventKind::handshake_done);
        RawSession session(*this, endpoint, greeting() + ready(type, identity), hello_of("ROUTER"),
                           receive_buffer_bytes);
        REQUIRE(turn_until([&] { return events.count(MonitorEventKind::handshake_done) > before; }));
        return session;
    }
    std::unique_ptr<Dealer> dealer(std::string identity) {
        auto made = std::make_unique<Dealer>(reactor, impatient(std::move(identity)));
        made->connect(endpoint);
        return made;
    }
    bool reads(RawSession& peer, const std::string& expected) {
        return turn_until([&] { return peer.read() == expected; });
    }
    bool is_cut(RawPeer& peer) {
        return turn_until([&] {
            peer.read();
            return peer.at_end();
        });
    }

    MonitorLog events;
    Router router;
    Inbox<Router> inbox;
    Endpoint endpoint;
};

}  // namespace telegate::test
