#include "publish/format_feed.hpp"

#include "core/publish/slow_bench.hpp"
#include "gateway/encode/encoder_harness.hpp"
#include "support/rounds.hpp"

#include <array>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// A feed whose only subscriber reads nothing at first, and the samples that the subscriber has lost.
struct FeedOfSlowReader {
    explicit FeedOfSlowReader(PayloadFormat format_in, std::size_t io_threads) : format(format_in) {
        for (const std::string name : {"a", "b", "c"}) {
            channels.push_back(table.add(DeviceId{0}, "d", name, "").value());
        }
        PublisherOptions options = small_backlog();
        options.io_threads = io_threads;
        options.loss_hooks.lost = [this](std::uint64_t, const LostRun& run, LossReason) {
            const std::scoped_lock lock(mutex);
            for (const LoggedSamples& samples : run.samples) {
                ranges[table.at(samples.channel).topic].emplace_back(samples.first_seq, samples.last_seq);
            }
        };
        h = std::make_unique<PublisherHarness>(std::move(options));
        feed = make_format_feed({format, *h->publisher}, {table, epoch_ms, nullptr, [] {
                                                          }});
    }

    /// Publishes a batch with runs of several channels, and sometimes a gap.
    void publish_batch() {
        std::vector<TelemetrySample> samples;
        while (samples.size() < 40) {
            const std::size_t place = random() % channels.size();
            for (std::uint64_t count = 1 + random() % 6; count > 0; --count) {
                TelemetrySample sample{};
                sample.channel = channels[place];
                sample.seq = ++reached[place];
                samples.push_back(sample);
            }
        }
        feed->consume(samples);
        if (random() % 4 == 0) {
            const std::size_t place = random() % channels.size();
            const std::uint64_t first = reached[place] + 1;
            reached[place] += 1 + random() % 5;
            feed->gap({channels[place], first, reached[place], DropReason::queue_overflow});
        }
        feed->flush();
        h->turn();
    }
    /// Adds the ranges of the messages that the subscriber received.
    void add_received(const RawPeer& peer) {
        for (const Seen& seen : SlowBench::seen(peer)) {
            const bool is_gap = seen.topic.ends_with(gap_suffix);
            const SeqRange seqs = is_gap ? read_notice(format, NoticeKind::gap, seen.payload).value().seqs
                                         : seqs_of(format, seen.payload);
            const std::string topic = seen.topic.substr(0, seen.topic.size() - (is_gap ? gap_suffix.size() : 0));
            ranges[topic].emplace_back(seqs.first, seqs.last);
        }
    }

    const PayloadFormat format;
    ChannelTable table;
    std::vector<ChannelId> channels;
    std::array<std::uint64_t, 3> reached{};
    std::mt19937 random{7};
    std::mutex mutex;  // guards `ranges` while the publisher exists
    std::map<std::string, Ranges> ranges;
    std::unique_ptr<PublisherHarness> h;
    std::unique_ptr<FormatFeed> feed;
};

}  // namespace

TEST_CASE("every sample and gap that a slow subscriber does not receive is named in its losses", "[gateway][slow]") {
    const auto format = GENERATE(from_range(payload_format_names.values));
    const auto policy = GENERATE(SlowPolicy::drop_oldest, SlowPolicy::drop_newest);
    FeedOfSlowReader f(format, GENERATE(std::size_t{1}, std::size_t{2}));
    f.h->publisher->set_delivery(f.h->endpoint, {policy, 64 * 1024, std::chrono::milliseconds(0)});
    RawPeer peer = f.h->subscriber({""}, 4096);
    for (int batch = 0; batch < 100'000 && f.h->last_status().dropped < 2'000; ++batch) {
        f.publish_batch();
    }
    CHECK(f.h->last_status().dropped >= 2'000);
    REQUIRE(f.h->turn_until([&] {
        peer.read();
        return f.h->last_status().pending == 0 && peer.received().size() == f.h->last_status().bytes_sent;
    }));
    f.h->publisher->set_monitor({});
    const std::scoped_lock lock(f.mutex);
    f.add_received(peer);
    for (std::size_t place = 0; place < f.channels.size(); ++place) {
        Ranges& ranges = f.ranges[f.table.at(f.channels[place]).topic];
        std::sort(ranges.begin(), ranges.end());
        std::uint64_t next = 1;
        for (const auto& [first, last] : ranges) {
            CHECK(first == next);
            next = last + 1;
        }
        CHECK(next == f.reached[place] + 1);
    }
}
