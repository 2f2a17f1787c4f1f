#include "core/publish/published.hpp"
#include "core/publisher.hpp"
#include "core/subscriber.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/scratch_dir.hpp"
#include "support/socket_harness.hpp"
#include "support/stream_pair.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::array<std::string_view, 5> model_prefixes = {"", "a", "ab", "b", "a topic"};
constexpr std::size_t readers_max = 5;
constexpr std::size_t model_segment_bytes = 2 * 1024;
using Prefixes = std::set<std::string, std::less<>>;

struct Published {
    std::string_view topic;
    std::size_t number;
    std::size_t bytes;

    [[nodiscard]] std::string payload() const {
        std::string text = std::to_string(number) + '.';
        text.resize(bytes, static_cast<char>('a' + number % 26));
        return text;
    }
};

/// A subscriber as the publisher should see it, according to its monitor.
struct Known {
    Prefixes prefixes;
    std::vector<Published> messages;  // matching messages since it connected

    [[nodiscard]] bool wants(std::string_view topic) const {
        return std::any_of(prefixes.begin(), prefixes.end(),
                           [&](const std::string& prefix) { return topic.starts_with(prefix); });
    }
};

/// A subscriber with its own event loop.
struct Reader {
    Reactor reactor;
    std::unique_ptr<Subscriber> socket = std::make_unique<Subscriber>(reactor, SocketOptions{});
    Endpoint endpoint;
    bool is_called = false;  // it binds, and the publisher connects
    bool is_stalled = false;
    std::uint64_t id = 0;  // the publisher's id of it
    Prefixes prefixes;
    std::size_t checked = 0;  // messages that it should receive
    std::size_t received = 0;

    /// Receives the messages that have arrived. Each message must be a later one of those that it should receive.
    void receive(const Known& known) {
        MessageBatch batch;
        while (socket->receive(batch)) {
            for (const Message message : batch) {
                REQUIRE(message.size() == 2);
                while (checked < known.messages.size() && !is_that(message, known.messages[checked])) {
                    ++checked;
                }
                REQUIRE(checked < known.messages.size());
                ++checked;
                ++received;
            }
        }
    }

  private:
    static bool is_that(const Message& message, const Published& published) {
        return message[1].size() == published.bytes && message.text(0) == published.topic &&
               message.text(1) == published.payload();
    }
};

/// A publisher, and for each subscriber what it should receive.
class PublisherModel {
  public:
    explicit PublisherModel(std::uint32_t seed)
        : random_(seed), loses_nothing_(seed % 2 == 0), always_checks_(seed % 3 == 0) {
        publisher_.set_monitor([this](const MonitorEvent& event) { hear(event); });
        for (const Transport transport : {Transport::tcp, Transport::ipc, Transport::inproc}) {
            endpoints_.push_back(publisher_.bind(fresh_endpoint(transport, scratch_.path())));
        }
    }

    void step() {
        switch (below(36)) {
            case 0: come(); break;
            case 1: below(3) == 0 ? leave() : come(); break;
            case 2: change_subscription(); break;
            case 3: stall(); break;
            case 4:
            case 5: read(); break;
            case 6: publisher_.flush(); break;
            case 7: check_all(); break;
            case 8: skip(); break;
            case 9: commit_late(); break;
            case 10:
            case 11: reactor_.poll(); break;
            default: publish_some();
        }
        if (always_checks_) {
            check_all();
        }
    }
    /// All subscribers read the rest, to the end of the stream if the publisher closes.
    void finish(bool closes) {
        for (Reader& reader : readers_) {
            reader.is_stalled = false;
        }
        is_finishing_ = true;
        publisher_.flush();
        bool is_closed = false;
        if (closes) {
            publisher_.close(std::chrono::seconds(20), [&] { is_closed = true; });
        }
        CHECK(turn_until([&] {
            read_all();
            return publisher_.totals().pending == 0 && is_closed == closes;
        }));
        CHECK(known_.empty() == (closes || readers_.empty()));
        check_all();
        for (Reader& reader : readers_) {
            const Known& known = closes ? gone_.at(reader.id) : known_.at(reader.id);
            const std::uint64_t sent = closes ? sent_to_gone_.at(reader.id) : status_of(reader.id).sent;
            CHECK(turn_until([&] {
                reader.receive(known);
                return reader.received + reader.socket->totals().filtered == sent;
            }));
            if (loses_nothing_) {
                CHECK(sent == known.messages.size());
            }
        }
    }

  private:
    static PublisherOptions small() {
        PublisherOptions options;
        options.backlog_bytes_max = 32 * 1024;
        options.segment_bytes = model_segment_bytes;
        options.flush_bytes = 6 * 1024;
        return options;
    }
    [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }
    [[nodiscard]] std::string_view any_topic() { return alike_topics[below(alike_topics.size())]; }
    [[nodiscard]] std::size_t any_size() {
        switch (below(20)) {
            case 0: return 0;
            case 1: return 250 + below(10);
            case 2: return model_segment_bytes - 20 + below(40);
            case 3: return below(60 * 1024);
            case 4: return below(16 * 1024);
            default: return 1 + below(90);
        }
    }
    template <class Condition>
    bool turn_until(const Condition& condition) {
        return eventually([&] {
            for (int times = 0; times < 10; ++times) {
                reactor_.poll();
                for (Reader& reader : readers_) {
                    reader.reactor.poll();
                }
                if (condition()) {
                    return true;
                }
            }
            return false;
        });
    }

    void publish_some() {
        const std::string_view topic = any_topic();
        for (std::size_t left = 1 + below(12); left > 0; --left) {
            const Published message{below(4) == 0 ? any_topic() : topic, published_, any_size()};
            wait_for_room(message.bytes + 300);
            if (below(3) == 0) {
                commit(message, message.bytes + below(300));
            } else {
                record(message);
                publisher_.send(message.topic, message.payload());
            }
        }
    }
    void wait_for_room(std::size_t bytes) {
        if (loses_nothing_ && !publisher_.has_room(bytes)) {
            REQUIRE(turn_until([&] {
                read_all();
                return publisher_.has_room(bytes);
            }));
        }
    }
    void commit(const Published& message, std::size_t bytes_max) {
        const std::string payload = message.payload();
        char* const room = publisher_.prepare(publisher_.intern(message.topic), bytes_max);
        std::copy(payload.begin(), payload.end(), room);
        record(message);
        publisher_.commit(message.bytes);
    }
    /// Much may happen between prepare and commit, except another message.
    void commit_late() {
        const Published message{any_topic(), published_, any_size()};
        const std::string payload = message.payload();
        wait_for_room(message.bytes);
        char* const room = publisher_.prepare(publisher_.intern(message.topic), message.bytes);
        is_preparing_ = true;
        switch (below(4)) {
            case 0: change_subscription(); break;
            case 1: leave(); break;
            case 2: read(); break;
            default: check_all();
        }
        is_preparing_ = false;
        std::copy(payload.begin(), payload.end(), room);
        record(message);
        publisher_.commit(message.bytes);
    }
    /// Before it is published: messages that a monitor publishes come after it.
    void record(const Published& message) {
        ++published_;
        for (auto& [id, known] : known_) {
            if (known.wants(message.topic)) {
                known.messages.push_back(message);
                ++matched_;
            }
        }
    }
    void skip() {
        publisher_.skip();
        ++published_;
    }

    void hear(const MonitorEvent& event) {
        switch (event.kind) {
            case MonitorEventKind::handshake_done: known_[event.peer_id]; break;
            case MonitorEventKind::subscribed: known_.at(event.peer_id).prefixes.emplace(event.detail); break;
            case MonitorEventKind::unsubscribed:
                known_.at(event.peer_id).prefixes.erase(std::string(event.detail));
                break;
            case MonitorEventKind::disconnected: record_gone(event); break;
            case MonitorEventKind::slow: warn(); break;
            default: break;
        }
    }
    void record_gone(const MonitorEvent& event) {
        const PeerStatus& status = *event.status;
        auto gone = known_.extract(event.peer_id);
        CHECK(status.matched == gone.mapped().messages.size());
        CHECK(status.pending == 0);
        CHECK(adds_up(status));
        sent_to_gone_[event.peer_id] = status.sent;
        gone_.insert(std::move(gone));
    }
    /// Publishes from within any call.
    void warn() {
        const Published message{"b", published_, 20};
        if (!is_preparing_ && !is_finishing_ && (!loses_nothing_ || publisher_.has_room(message.bytes))) {
            record(message);
            publisher_.send(message.topic, message.payload());
        }
    }

    [[nodiscard]] std::list<Reader>::iterator any_reader() {
        return std::next(readers_.begin(), static_cast<std::ptrdiff_t>(below(readers_.size())));
    }
    void come() {
        if (readers_.size() == readers_max) {
            return;
        }
        Reader& reader = readers_.emplace_back();
        reader.prefixes.emplace(model_prefixes[below(model_prefixes.size())]);
        reader.socket->subscribe(*reader.prefixes.begin());
        reader.is_called = below(4) == 0;
        if (reader.is_called) {
            reader.endpoint = reader.socket->bind(fresh_endpoint(Transport::inproc, scratch_.path()));
            publisher_.connect(reader.endpoint);
        } else {
            reader.socket->connect(endpoints_[below(endpoints_.size())]);
        }
        const std::size_t before = known_.size();
        REQUIRE(
            turn_until([&] { return known_.size() > before && known_.rbegin()->second.prefixes == reader.prefixes; }));
        reader.id = known_.rbegin()->first;
    }
    void leave() {
        if (readers_.empty()) {
            return;
        }
        const auto leaving = any_reader();
        const std::uint64_t id = leaving->id;
        if (leaving->is_called) {
            CHECK(publisher_.disconnect(leaving->endpoint));
        } else {
            leaving->socket.reset();
        }
        REQUIRE(turn_until([&] { return !known_.contains(id); }));
        if (leaving->socket) {
            leaving->receive(gone_.at(id));
        }
        readers_.erase(leaving);
    }
    void change_subscription() {
        if (readers_.empty()) {
            return;
        }
        Reader& reader = *any_reader();
        const std::string prefix(model_prefixes[below(model_prefixes.size())]);
        if (reader.prefixes.erase(prefix) > 0) {
            reader.socket->unsubscribe(prefix);
        } else {
            reader.prefixes.insert(prefix);
            reader.socket->subscribe(prefix);
        }
        REQUIRE(turn_until([&] { return known_.at(reader.id).prefixes == reader.prefixes; }));
    }
    void stall() {
        if (!readers_.empty()) {
            Reader& reader = *any_reader();
            reader.is_stalled = below(4) > 0;
        }
    }
    void read() {
        reactor_.poll();
        for (Reader& reader : readers_) {
            if (!reader.is_stalled) {
                reader.reactor.poll();
                reader.receive(known_.at(reader.id));
            }
        }
    }
    void read_all() {
        for (Reader& reader : readers_) {
            const auto known = known_.find(reader.id);
            reader.receive(known == known_.end() ? gone_.at(reader.id) : known->second);
        }
    }

    void check_all() {
        CHECK(publisher_.subscribers().size() == known_.size());
        for (const PeerStatus& status : publisher_.subscribers()) {
            CHECK(status.matched == known_.at(status.id).messages.size());
            CHECK(adds_up(status));
            CHECK((status.dropped == 0 || !loses_nothing_));
        }
        const PublisherTotals totals = publisher_.totals();
        CHECK(totals.messages == published_);
        CHECK(totals.matched == matched_);
        CHECK(adds_up(totals));
    }
    [[nodiscard]] PeerStatus status_of(std::uint64_t id) const {
        const auto all = publisher_.subscribers();
        return *std::find_if(all.begin(), all.end(), [&](const PeerStatus& status) { return status.id == id; });
    }

    std::mt19937 random_;
    const bool loses_nothing_;  // checks the capacity before each message
    const bool always_checks_;  // so that no cursor stays open for long
    ScratchDir scratch_;
    Reactor reactor_;
    Publisher publisher_{reactor_, small()};
    std::vector<Endpoint> endpoints_;
    std::list<Reader> readers_;
    std::map<std::uint64_t, Known> known_;  // by id
    std::map<std::uint64_t, Known> gone_;
    std::map<std::uint64_t, std::uint64_t> sent_to_gone_;
    std::size_t published_ = 0;
    std::uint64_t matched_ = 0;
    bool is_preparing_ = false;
    bool is_finishing_ = false;
};

}  // namespace

TEST_CASE("whatever a publisher and its subscribers do, each receives its messages in order and once",
          "[core][publisher][model]") {
    const auto seed = GENERATE(range(0U, 12U));
    CAPTURE(seed);
    PublisherModel model(seed);
    for (int step = 0; step < 1'200; ++step) {
        model.step();
    }
    model.finish(seed % 4 < 2);
}
