#include "core/publish/published.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::array<std::string_view, 6> ledger_prefixes = {"", "a", "ab", "b", "a topic", "nothing"};
constexpr std::size_t subscribers_max = 6;

/// The messages that one subscriber should receive, and those that it has received.
struct KnownPeer {
    RawPeer peer;
    std::uint64_t id;
    bool is_slow;
    std::vector<std::string> prefixes;
    std::vector<std::string> messages;  // matching ones, in order

    [[nodiscard]] bool wants(std::string_view topic) const {
        return std::any_of(prefixes.begin(), prefixes.end(),
                           [&](const std::string& prefix) { return topic.starts_with(prefix); });
    }
    /// Returns the number of messages received: complete, in order, each once.
    [[nodiscard]] std::size_t received() const {
        std::string_view left = std::string_view(peer.received()).substr(publisher_hello().size());
        std::size_t count = 0;
        for (const std::string& message : messages) {
            if (left.starts_with(message)) {
                left.remove_prefix(message.size());
                ++count;
            }
        }
        CHECK(left.empty());
        return count;
    }
};

/// A publisher, and a simple model of it: each message for each subscriber.
class LedgerModel {
  public:
    LedgerModel(std::uint32_t seed, std::size_t io_threads)
        : h_(small(io_threads), seed % 2 == 0 ? Transport::tcp : Transport::ipc),
          random_(seed),
          is_at_once_(io_threads == 1) {}

    void step() {
        switch (below(40)) {
            case 0: return come();
            case 1: return leave();
            case 2: return change_subscription();
            case 3: return read();
            case 4: return h_.publisher->flush();
            case 5: return check_each();
            case 6: return check_totals();
            case 7: return publish_while_room();
            case 8: return skip();
            case 9: return h_.turn();
            default: return publish_some();
        }
    }
    /// All subscribers read the rest.
    void finish() {
        h_.publisher->flush();
        const bool is_all_sent = h_.turn_until([&] {
            for (KnownPeer& known : known_) {
                known.peer.read();
            }
            return h_.totals().pending == 0;
        });
        CHECK(is_all_sent);
        check_each();
        check_totals();
        for (const PeerStatus& status : h_.publisher->subscribers()) {
            KnownPeer& known = find(status.id);
            CHECK(h_.turn_until([&] { return known.peer.read().size() == status.bytes_sent; }));
            CHECK(known.received() == status.sent);
        }
    }

  private:
    static PublisherOptions small(std::size_t io_threads) {
        PublisherOptions options;
        options.io_threads = io_threads;
        options.backlog_bytes_max = 32 * 1024;
        options.segment_bytes = 2 * 1024;
        options.flush_bytes = 6 * 1024;
        return options;
    }
    [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }

    void publish_some() {
        const std::string_view topic = alike_topics[below(alike_topics.size())];
        for (std::size_t left = 1 + below(12); left > 0; --left) {
            publish(topic, payload(below(10) == 0 ? 12'000 : 80));
        }
    }
    void publish_while_room() {
        CHECK(comes_true([&] { return h_.totals().matched == matched_; }));
        const std::uint64_t dropped = h_.totals().dropped;
        for (std::size_t left = below(100); left > 0 && h_.publisher->has_room(100); --left) {
            publish(alike_topics[below(3) == 0 ? below(alike_topics.size()) : 0], payload(100));
        }
        CHECK(h_.totals().dropped == dropped);
    }
    std::string payload(std::size_t bytes_max) {
        std::string text = below(20) == 0 ? std::string() : std::to_string(published_);
        text.resize(text.empty() ? 0 : text.size() + below(bytes_max - text.size()), '.');
        return text;
    }
    void publish(std::string_view topic, const std::string& text) {
        if (below(3) == 0) {
            h_.commit(topic, text);
        } else {
            h_.publisher->send(topic, text);
        }
        ++published_;
        for (KnownPeer& known : known_) {
            if (known.wants(topic)) {
                known.messages.push_back(message(topic, text));
                ++matched_;
            }
        }
    }
    void skip() {
        h_.publisher->skip();
        ++published_;
    }

    [[nodiscard]] std::list<KnownPeer>::iterator any() {
        return std::next(known_.begin(), static_cast<std::ptrdiff_t>(below(known_.size())));
    }
    void come() {
        if (known_.size() == subscribers_max) {
            return;
        }
        const std::string prefix(ledger_prefixes[below(ledger_prefixes.size())]);
        const bool is_slow = below(3) == 0;
        RawPeer peer = h_.subscriber({prefix}, is_slow ? 4'096 : 0);
        known_.push_back({std::move(peer), h_.last_status().id, is_slow, {prefix}, {}});
    }
    void leave() {
        if (known_.empty()) {
            return;
        }
        const auto leaving = any();
        const std::size_t before = h_.departures.size();
        leaving->peer.close();
        REQUIRE(h_.turn_until([&] { return h_.departures.size() > before; }));
        const PeerStatus& status = h_.departures.back();
        CHECK(status.id == leaving->id);
        CHECK(status.matched <= leaving->messages.size());
        CHECK((!is_at_once_ || status.matched == leaving->messages.size()));
        matched_ -= leaving->messages.size() - status.matched;  // had not reached its thread
        CHECK(status.pending == 0);
        CHECK(adds_up(status));
        known_.erase(leaving);
    }
    void change_subscription() {
        if (known_.empty()) {
            return;
        }
        KnownPeer& known = *any();
        const std::string prefix(ledger_prefixes[below(ledger_prefixes.size())]);
        const bool was_there = std::erase(known.prefixes, prefix) > 0;
        if (!was_there) {
            known.prefixes.push_back(prefix);
        }
        known.peer.send(was_there ? cancel(prefix) : subscribe(prefix));
        REQUIRE(h_.turn_until([&] { return status_of(known.id).subscriptions_count == known.prefixes.size(); }));
    }
    void read() {
        for (KnownPeer& known : known_) {
            known.peer.read(known.is_slow ? 1'000 : 1'000'000);
        }
        h_.turn();
    }

    /// True at once with one thread, and soon with several.
    template <class Condition>
    bool comes_true(Condition condition) {
        return condition() || (!is_at_once_ && h_.turn_until(condition));
    }
    void check_each() {
        CHECK(h_.publisher->subscribers().size() == known_.size());
        for (const PeerStatus& status : h_.publisher->subscribers()) {
            CHECK(comes_true([&] { return status_of(status.id).matched == find(status.id).messages.size(); }));
            CHECK(adds_up(status));
        }
    }
    void check_totals() {
        CHECK(comes_true([&] { return h_.totals().matched == matched_; }));
        const PublisherTotals totals = h_.totals();
        CHECK(totals.messages == published_);
        CHECK(adds_up(totals));
    }
    [[nodiscard]] PeerStatus status_of(std::uint64_t id) const {
        for (const PeerStatus& status : h_.publisher->subscribers()) {
            if (status.id == id) {
                return status;
            }
        }
        return {};
    }
    [[nodiscard]] KnownPeer& find(std::uint64_t id) {
        const auto found =
            std::find_if(known_.begin(), known_.end(), [&](const KnownPeer& known) { return known.id == id; });
        REQUIRE(found != known_.end());
        return *found;
    }

    PublisherHarness h_;
    std::mt19937 random_;
    std::list<KnownPeer> known_;
    std::uint64_t published_ = 0;
    std::uint64_t matched_ = 0;
    const bool is_at_once_;
};

}  // namespace

TEST_CASE("the ledger balances at every moment, whatever subscribers connect, disconnect or are slow",
          "[core][publisher][ledger]") {
    const auto seed = GENERATE(range(0U, 12U));
    CAPTURE(seed);
    LedgerModel model(seed, 1);
    for (int step = 0; step < 1'500; ++step) {
        model.step();
    }
    model.finish();
}

TEST_CASE("with several threads the ledger balances soon after each step", "[core][publisher][ledger][shards]") {
    const auto seed = GENERATE(range(0U, 10U));
    const std::size_t io_threads = 2 + seed % 3;
    CAPTURE(seed, io_threads);
    LedgerModel model(seed, io_threads);
    for (int step = 0; step < 2'000; ++step) {
        model.step();
    }
    model.finish();
}

TEST_CASE("each message is in the ledger as soon as it is sent", "[core][publisher][ledger]") {
    PublisherHarness h;
    const RawPeer all = h.subscriber({""});
    const RawPeer some = h.subscriber({"t"});
    const TopicId topic = h.publisher->intern("t");
    for (std::uint64_t sent = 1; sent <= 10; ++sent) {
        h.publisher->send(topic, "payload");
        CHECK(h.totals().messages == sent);
        CHECK(h.totals().matched == 2 * sent);
        CHECK(h.totals().pending == 2 * sent);
        CHECK(h.last_status().pending == sent);
        CHECK(h.last_status().backlog_bytes == sent * message("t", "payload").size());
    }
}

TEST_CASE("messages of topics with the same subscribers arrive in the order in which they were sent",
          "[core][publisher][ledger]") {
    PublisherHarness h;
    RawPeer first = h.subscriber({"a", "b"});
    RawPeer second = h.subscriber({"b", "a"});
    std::string expected = publisher_hello();
    for (int number = 0; number < 100; ++number) {
        const std::string_view topic = number % 3 == 0 ? "a" : "b";
        h.publisher->send(topic, std::to_string(number));
        expected += message(topic, std::to_string(number));
    }
    CHECK(h.turn_until([&] { return first.read() == expected; }));
    CHECK(h.turn_until([&] { return second.read() == expected; }));
}

TEST_CASE("a subscriber that connects between two messages receives the second", "[core][publisher][ledger]") {
    PublisherHarness h;
    RawPeer first = h.subscriber({"t"});
    h.publisher->send("t", "1");
    h.publisher->send("t", "2");
    RawPeer second = h.subscriber({"t"});
    h.publisher->send("t", "3");
    h.publisher->send("t", "4");
    const std::string later = message("t", "3") + message("t", "4");
    CHECK(h.turn_until(
        [&] { return first.read() == publisher_hello() + message("t", "1") + message("t", "2") + later; }));
    CHECK(h.turn_until([&] { return second.read() == publisher_hello() + later; }));
}
