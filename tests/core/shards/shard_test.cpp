#include "shards/shard.hpp"

#include "core/publish/slow_bench.hpp"
#include "publish/shard_queue.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/raw_peer.hpp"
#include "support/zmtp_text.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// One shard with a queue. Every accepted connection is handed to its first place. A subscriber is notified of the
/// numbers of its lost messages.
struct ShardBench {
    ShardBench() : options(with_hooks()) {
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
    RawPeer join(int receive_buffer_bytes = 0) {
        RawPeer peer(endpoint, receive_buffer_bytes);
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
    void publish(const ShardReader& reader, const std::string& wire) {
        const ShardReadersRef share = queue.ref_to({reader});
        std::memcpy(log.prepare(wire.size()), wire.data(), wire.size());
        const Slice slice = log.commit(wire.size());
        queue.begin(share.readers());
        queue.outbox().add(slice);
        queue.flush();
    }

    PublisherOptions with_hooks() {
        PublisherOptions all = small_backlog();
        all.io_threads = 2;
        all.loss_hooks.lost = [this](std::uint64_t, const LostRun& run, LossReason) {
            lost(run);
        };
        all.loss_hooks.write_notices = [this](std::uint64_t, NoticeWriter& writer) {
            const std::scoped_lock lock(mutex);
            std::sort(unreported.begin(), unreported.end());
            std::string text;
            for (const std::uint64_t number : unreported) {
                text += (text.empty() ? "" : " ") + std::to_string(number);
            }
            unreported.clear();
            (void)(text.empty() || writer.write("t$gap", text));
            return false;
        };
        return all;
    }
    void lost(const LostRun& run) {
        const std::scoped_lock lock(mutex);
        for (const LoggedSamples& samples : run.samples) {
            unreported.push_back(samples.first_seq);
        }
    }
    /// Adds a message with the next number to the queue, which passes it on with flush().
    void add(const ShardReader& reader) {
        const std::string wire = message("t", SlowBench::payload(next, 980));
        const ShardReadersRef share = queue.ref_to({reader});
        std::memcpy(log.prepare(wire.size(), sizeof(LoggedSamples)), wire.data(), wire.size());
        if (segments != log.segments_opened()) {
            segments = log.segments_opened();
            queue.enforce(log.end(), log.position());
        }
        const Slice slice = log.commit(wire.size(), SampleRange{ChannelId{0}, next, next});
        ++next;
        queue.begin(share.readers());
        queue.outbox().add(slice);
    }

    std::mutex mutex;
    std::vector<std::uint64_t> unreported;  // guarded by the mutex
    std::size_t next = 0;
    std::uint64_t segments = 0;
    std::uint64_t dropped_by_queue = 0;
    PublisherOptions options;
    Reactor reactor;
    PeerTable peers{reactor, options, {}, {}};
    Endpoint endpoint;
    std::atomic<unsigned> opened{0};
    std::atomic<unsigned> ended{0};
    SegmentPool pool{4'096};
    SegmentLog log{pool};
    std::unique_ptr<ShardLink> link = std::make_unique<ShardLink>();
    ShardQueue queue{*link,
                     pool,
                     options.backlog_bytes_max,
                     {[] {},  // the shard does not hurry
                      [this](const ShardReader&, const LostRun& run) {
                          dropped_by_queue += run.samples.size();
                          lost(run);
                      }}};
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

TEST_CASE("a subscriber receives each message or a notice of its loss, also if its queue drops messages",
          "[core][publisher][shards]") {
    const bool reads = GENERATE(true, false);  // while messages are published
    ShardBench b;
    RawPeer peer = b.join(4'096);
    for (int batch = 0; b.dropped_by_queue < 1'000 && batch < 10'000; ++batch) {
        for (int number = 0; number < 40; ++number) {  // less than the queue keeps
            b.add({0, 1});
        }
        if (batch % 10 == 9) {  // as when the shard is out of memory
            b.queue.drop_all();
        }
        b.queue.flush();
        if (reads) {
            peer.read();
        }
    }
    REQUIRE(b.dropped_by_queue >= 1'000);
    std::vector<std::uint64_t> all(b.next);
    std::iota(all.begin(), all.end(), 0);
    CHECK(eventually([&] {
        b.queue.flush();
        peer.read();
        Numbers numbers = learned(SlowBench::seen(peer));
        std::sort(numbers.begin(), numbers.end());  // the queue may report while an earlier notice is being written
        return b.queue.empty() && numbers == all;
    }));
}

TEST_CASE("messages that a queue drops are named where they are missing, also if nothing follows them",
          "[core][publisher][shards]") {
    ShardBench b;
    RawPeer peer = b.join();
    const auto learns_all = [&] {
        std::vector<std::uint64_t> all(b.next);
        std::iota(all.begin(), all.end(), 0);
        return eventually([&] {
            peer.read();
            return learned(SlowBench::seen(peer)) == all;
        });
    };
    for (int round = 0; round < 3; ++round) {
        b.add({0, 1});
        b.queue.flush();
        CHECK(learns_all());
        b.add({0, 1});
        b.queue.drop_all();
        b.queue.flush();
        CHECK(learns_all());
    }
    CHECK(b.dropped_by_queue == 3);
}
