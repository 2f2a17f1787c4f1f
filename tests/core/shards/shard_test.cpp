#include "shards/shard.hpp"

#include "publish/lane.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/raw_peer.hpp"
#include "support/zmtp_text.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>

using namespace telegate;
using namespace telegate::test;

namespace {

/// One shard with a lane. Every accepted connection is handed to its first place.
struct ShardBench {
    ShardBench() {
        options.io_threads = 2;
        peers.remote().hand_over = [this](Handover& handover, std::size_t) {
            REQUIRE(handover.stream->move_to(shard.reactor()));
            shard.post([held = std::make_shared<Handover>(std::move(handover))](Shard& to) {
                ShardNotes::Batch end;
                end.push_back({ShardNote::Kind::ended, held->id, {}, nullptr});
                to.adopt(std::move(*held), std::move(end));
            });
            return true;
        };
        endpoint = peers.bind({Transport::tcp, "127.0.0.1", 0, {}});
    }
    ShardCalls calls() {
        return {[this](const std::shared_ptr<const ShardNotes::Batch>& notes) {
                    for (const ShardNote& note : *notes) {
                        opened += note.kind == ShardNote::Kind::opened ? 1U : 0U;
                        ended += note.kind == ShardNote::Kind::ended ? 1U : 0U;
                    }
                    shard.post([](Shard&) {});
                },
                [] {},
                [](const std::exception_ptr&) {
                }};
    }
    /// Connects a peer that has finished its handshake and has read the publisher's hello.
    RawPeer join() {
        RawPeer peer(endpoint);
        peer.send(greeting() + ready("SUB"));
        const unsigned before = opened;
        CHECK(turn_until([&] { return opened == before + 1 && peer.read() == publisher_hello(); }));
        return peer;
    }
    template <class Condition>
    bool turn_until(Condition condition) {
        return eventually([&] {
            reactor.poll();
            return condition();
        });
    }
    void publish(const LaneReader& reader, const std::string& wire) {
        const LaneShare share = lane.share_of({reader});
        std::memcpy(log.prepare(wire.size()), wire.data(), wire.size());
        const Slice slice = log.commit(wire.size());
        lane.begin(share.readers());
        lane.outbox().add(slice);
        lane.flush();
    }

    PublisherOptions options;
    Reactor reactor;
    PeerTable peers{reactor, options, {}, {}};
    Endpoint endpoint;
    std::atomic<unsigned> opened{0};
    std::atomic<unsigned> ended{0};
    SegmentPool pool{4'096};
    SegmentLog log{pool};
    std::unique_ptr<LaneLink> link = std::make_unique<LaneLink>();
    Lane lane{*link, pool, options.backlog_bytes_max, [] {
              }};
    Shard shard{options, 2, *link, calls()};
};

}  // namespace

TEST_CASE("messages for a session that has ended are dropped, even if another session has its place",
          "[core][publisher][shards]") {
    ShardBench b;
    RawPeer first = b.join();
    b.publish({0, 1}, message("t", "first"));
    CHECK(eventually([&] { return first.read() == publisher_hello() + message("t", "first"); }));
    first.close();
    CHECK(b.turn_until([&] { return b.ended == 1; }));
    b.publish({0, 1}, message("t", "for nobody"));
    RawPeer second = b.join();
    b.publish({0, 1}, message("t", "for nobody either"));
    b.publish({0, 2}, message("t", "second"));
    CHECK(eventually([&] { return second.read().ends_with(message("t", "second")); }));
    CHECK(second.received() == publisher_hello() + message("t", "second"));
}
