#include "core/publish/slow_bench.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

constexpr std::array<std::string_view, 4> policy_topics{"a", "ab", "b", "bc"};
constexpr std::array<std::string_view, 4> policy_prefixes{"", "a", "b", "bc"};
constexpr std::array policies{SlowPolicy::drop_oldest, SlowPolicy::drop_newest, SlowPolicy::disconnect,
                              SlowPolicy::block, SlowPolicy::conflate};

/// One subscriber, and the numbers of the messages published for it.
struct PolicyReader {
    RawPeer peer;
    std::uint64_t id = 0;
    std::string_view prefix;
    SlowPolicy policy{};
    Numbers expected;
    bool is_gone = false;

    [[nodiscard]] bool conflates() const { return policy == SlowPolicy::conflate; }
};

/// Publishes, reads, stalls and disconnects at random, and knows which losses each subscriber should be notified of.
class PolicyModel {
  public:
    explicit PolicyModel(std::uint32_t seed) : random_(seed) {
        for (const SlowPolicy policy : policies) {
            const std::size_t age = below(3);
            const Endpoint endpoint =
                bench_.h.publisher->bind({policy == SlowPolicy::block ? Transport::tcp : Transport::ipc, "127.0.0.1", 0,
                                          bench_.h.scratch.path(std::string(to_string(policy)))});
            bench_.h.publisher->set_delivery(
                endpoint, {policy, std::size_t{1} << (14U + below(4)), std::chrono::milliseconds(age * 20)});
            endpoints_.push_back(endpoint);
        }
    }

    void step() {
        switch (below(40)) {
            case 0: come(); break;
            case 1: leave(); break;
            case 2:
            case 3: bench_.h.publisher->flush(); break;
            case 4:
            case 5:
            case 6: bench_.h.turn(); break;
            case 7: read_some(); break;
            default: publish();
        }
        check_ledger();
    }
    void end() {
        for (auto& reader : readers_) {
            bench_.h.publisher->flush();
            REQUIRE(bench_.h.turn_until([&] {
                reader->peer.read();
                return reader->peer.at_end() || has_left(*reader) || bench_.is_all_read(reader->peer, reader->id);
            }));
            check(*reader);
        }
    }

  private:
    std::size_t below(std::size_t bound) { return random_() % bound; }

    void come() {
        if (readers_.size() >= 8) {
            return;
        }
        const std::size_t place = below(endpoints_.size());
        auto reader = std::make_unique<PolicyReader>(
            PolicyReader{RawPeer(endpoints_[place], 4096), 0, policy_prefixes[below(4)], policies[place], {}, false});
        const std::size_t arrivals = bench_.h.arrivals.size();
        reader->peer.send(greeting() + ready("SUB") + subscribe(reader->prefix));
        REQUIRE(bench_.h.turn_until([&] { return bench_.h.arrivals.size() > arrivals; }));
        reader->id = bench_.h.arrivals.back().id;
        REQUIRE(bench_.h.turn_until([&] { return bench_.status_of(reader->id).subscriptions_count == 1; }));
        REQUIRE(bench_.h.turn_until([&] {
            return reader->peer.read(publisher_hello().size() - reader->peer.received().size()) == publisher_hello();
        }));
        readers_.push_back(std::move(reader));
    }
    void leave() {
        if (!readers_.empty()) {
            readers_[below(readers_.size())]->peer.close();
        }
    }
    void publish() {
        const std::string_view topic = policy_topics[below(policy_topics.size())];
        const std::size_t bytes = below(50) == 0 ? 20'000 + below(60'000) : below(1'500);
        for (std::size_t count = below(60); count > 0; --count) {
            for (auto& reader : readers_) {
                if (topic.starts_with(reader->prefix) && !has_left(*reader)) {
                    reader->expected.push_back(bench_.next);
                }
            }
            bench_.commit(topic, bytes);
        }
    }
    void read_some() {
        if (!readers_.empty()) {
            readers_[below(readers_.size())]->peer.read(below(200'000));
        }
    }
    /// The publisher has closed it, and no longer matches it.
    bool has_left(PolicyReader& reader) {
        reader.is_gone = reader.is_gone || std::any_of(bench_.h.departures.begin(), bench_.h.departures.end(),
                                                       [&](const PeerStatus& gone) { return gone.id == reader.id; });
        return reader.is_gone;
    }
    void check_ledger() const {
        REQUIRE(bench_.adds_up());
        const PublisherTotals totals = bench_.h.totals();
        REQUIRE(adds_up(totals));
        REQUIRE(totals.lost[0] + totals.lost[1] + totals.lost[2] + totals.lost[3] == totals.dropped);
    }
    void check(PolicyReader& reader) {
        CAPTURE(to_string(reader.policy), reader.prefix, reader.expected.size());
        const std::vector<Seen> stream = SlowBench::seen(reader.peer);
        const Numbers numbers = learned(stream);
        REQUIRE(std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end());
        REQUIRE(std::includes(reader.expected.begin(), reader.expected.end(), numbers.begin(), numbers.end()));
        if (!reader.conflates()) {  // without a hole, whether or not it has received everything
            REQUIRE(std::equal(numbers.begin(), numbers.end(), reader.expected.begin()));
        }
        if (has_left(reader)) {
            return;
        }
        const PeerStatus status = bench_.status_of(reader.id);
        const std::uint64_t conflated = status.losses[static_cast<std::size_t>(LossReason::conflated)].count;
        REQUIRE(numbers.size() + conflated == reader.expected.size());
        REQUIRE(status.sent == stream.size());
    }

    std::mt19937 random_;
    SlowBench bench_;
    std::vector<Endpoint> endpoints_;
    std::vector<std::unique_ptr<PolicyReader>> readers_;
};

}  // namespace

TEST_CASE("whatever subscribers do, messages and gap notices together account for everything published for them",
          "[core][publisher][policy][model]") {
    const auto seed = GENERATE(range(1U, 1 + rounds(24U)));
    CAPTURE(seed);
    PolicyModel model(seed);
    for (int i = 0; i < 1'200; ++i) {
        model.step();
    }
    model.end();
}
