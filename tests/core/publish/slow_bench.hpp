#pragma once

#include "core/publish/publisher_setups.hpp"
#include "core/publisher.hpp"
#include "core/subscriber.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/publisher_harness.hpp"
#include "support/raw_peer.hpp"
#include "support/socket_harness.hpp"
#include "support/zmtp_text.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::test {

/// Numbers in order of occurrence.
using Numbers = std::vector<std::uint64_t>;

[[nodiscard]] inline std::uint64_t number_in(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// One message of a stream, as a reader sees it.
struct Seen {
    std::string topic;
    std::string payload;

    [[nodiscard]] bool is_notice() const { return topic.ends_with("$gap"); }
};

/// The information that a reader gets from a stream: the numbers of its messages, and those that its gap notices
/// report.
[[nodiscard]] inline Numbers learned(const std::vector<Seen>& stream) {
    Numbers numbers;
    for (const Seen& seen : stream) {
        if (!seen.is_notice()) {
            numbers.push_back(number_in(seen.payload));
            continue;
        }
        for (std::string_view rest = seen.payload; !rest.empty();) {
            numbers.push_back(number_in(rest));
            rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
        }
    }
    return numbers;
}

/// Removes whole messages of two frames from the front of wire bytes.
inline void take_messages(std::string_view& wire, std::vector<Seen>& out) {
    const auto frame_of = [](std::string_view bytes) -> std::pair<std::size_t, std::string_view> {
        if (bytes.size() < 2) {
            return {0, {}};
        }
        const bool is_long = (bytes[0] & 2) != 0;
        const std::size_t header = is_long ? 9 : 2;
        if (bytes.size() < header) {
            return {0, {}};
        }
        std::size_t size = 0;
        for (std::size_t i = 1; i < header; ++i) {
            size = size << 8U | static_cast<unsigned char>(bytes[i]);
        }
        return bytes.size() < header + size ? std::pair<std::size_t, std::string_view>{0, {}}
                                            : std::pair{header + size, bytes.substr(header, size)};
    };
    for (;;) {
        const auto [first, topic] = frame_of(wire);
        const auto [second, payload] =
            first == 0 ? std::pair<std::size_t, std::string_view>{0, {}} : frame_of(wire.substr(first));
        if (first > 0 && (wire[0] & 4) != 0) {  // PING
            wire.remove_prefix(first);
            continue;
        }
        if (second == 0) {
            return;
        }
        REQUIRE((wire[0] & 1) == 1);
        REQUIRE((wire[first] & 1) == 0);
        out.push_back({std::string(topic), std::string(payload)});
        wire.remove_prefix(first + second);
    }
}

/// Options with a small backlog, once with one I/O thread and once with two; then the subscribers are on the other one.
[[nodiscard]] inline PublisherOptions small_backlog_on_any_thread() {
    PublisherOptions options = small_backlog();
    options.io_threads = GENERATE(std::size_t{1}, std::size_t{2});
    return options;
}

/// A publisher that notifies each subscriber of the numbers of its lost messages. The default transport is ipc, because
/// the kernel's buffer of such a connection never grows: what a subscriber does not read stays in its backlog.
///
/// Threads: one, the test's; the hooks may be called on others. Limits: none. Failure: none of its own.
class SlowBench {
  public:
    explicit SlowBench(PublisherOptions options = small_backlog_on_any_thread(), Transport transport = Transport::ipc)
        : io_threads(options.io_threads), h(with_hooks(std::move(options)), transport) {}

    void deliver(SlowPolicy policy, std::chrono::milliseconds age = std::chrono::milliseconds(0)) {
        h.publisher->set_delivery(h.endpoint, {policy, 64 * 1024, age});
    }

    /// Publishes the next number, and returns it.
    std::uint64_t publish(std::string_view topic = "t", std::size_t bytes = 980) {
        const std::uint64_t number = commit(topic, bytes);
        if (next % messages_per_flush == 0) {
            h.publisher->flush();
            h.turn();
        }
        REQUIRE(adds_up());
        return number;
    }
    std::uint64_t commit(std::string_view topic, std::size_t bytes) {
        const TopicId id = h.publisher->intern(topic);
        {
            const std::scoped_lock lock(mutex_);
            topics_[static_cast<ChannelId>(id)] = topic;
        }
        const std::string text = payload(next, bytes);
        text.copy(h.publisher->prepare(id, text.size()), text.size());
        h.publisher->commit(text.size(), {static_cast<ChannelId>(id), next, next});
        return next++;
    }
    /// Sends the next number to one subscriber. Returns false if that refuses it at once.
    bool send_to(std::uint64_t id, std::size_t bytes = 980) {
        const std::string topic(direct_topic);
        {
            const std::scoped_lock lock(mutex_);
            topics_[direct_channel] = topic;
        }
        const bool is_sent =
            h.publisher->send_to(id, topic, payload(next, bytes), SampleRange{direct_channel, next, next});
        next += is_sent ? 1U : 0U;
        h.turn();
        return is_sent;
    }
    [[nodiscard]] static std::string payload(std::uint64_t number, std::size_t bytes) {
        std::string text = std::to_string(number);
        text.resize(std::max(bytes, text.size()), '.');
        return text;
    }
    /// Publishes until the last subscriber has lost at least `losses`.
    void publish_until_lost(std::uint64_t losses, std::string_view topic = "t") {
        for (int i = 0; i < 100'000 && h.last_status().dropped < losses; ++i) {
            publish(topic);
        }
        REQUIRE(h.last_status().dropped >= losses);
    }
    [[nodiscard]] bool adds_up() const {
        const auto all = h.publisher->subscribers();
        return std::all_of(all.begin(), all.end(), [](const PeerStatus& status) {
            std::uint64_t lost = 0;
            for (const Losses& losses : status.losses) {
                lost += losses.count;
            }
            return test::adds_up(status) && lost == status.dropped;
        });
    }
    [[nodiscard]] std::uint64_t lost(LossReason reason) const {
        return h.last_status().losses[static_cast<std::size_t>(reason)].count;
    }
    /// Returns the status of a subscriber; its id is 0 if the subscriber has disconnected.
    [[nodiscard]] PeerStatus status_of(std::uint64_t id) const {
        const auto all = h.publisher->subscribers();
        const auto found = std::find_if(all.begin(), all.end(), [&](const PeerStatus& each) { return each.id == id; });
        return found == all.end() ? PeerStatus{} : *found;
    }
    /// Returns whether the subscriber has received everything, including the notices of its losses.
    [[nodiscard]] bool is_all_read(const RawPeer& peer, std::uint64_t id) const {
        if (status_of(id).pending > 0 || is_reporting(id)) {
            return false;
        }
        const PeerStatus status = status_of(id);  // again: another thread may have written the last notices since
        return status.pending == 0 && peer.received().size() == status.bytes_sent;
    }
    /// Reads everything that is pending for the subscriber. Returns all messages received.
    std::vector<Seen> read_all(RawPeer& peer, std::uint64_t id) {
        REQUIRE(h.turn_until([&] {
            peer.read();
            return is_all_read(peer, id);
        }));
        return seen(peer);
    }
    std::vector<Seen> read_all(RawPeer& peer) { return read_all(peer, h.last_status().id); }
    [[nodiscard]] static std::vector<Seen> seen(const RawPeer& peer) {
        std::vector<Seen> stream;
        std::string_view wire = peer.received();
        wire.remove_prefix(publisher_hello().size());
        take_messages(wire, stream);
        return stream;
    }
    [[nodiscard]] bool is_reporting() const {
        const std::scoped_lock lock(mutex_);
        return std::any_of(unreported_.begin(), unreported_.end(),
                           [](const auto& each) { return !each.second.empty(); });
    }
    /// Returns whether there are losses that the subscriber was not notified of.
    [[nodiscard]] bool is_reporting(std::uint64_t id) const {
        const std::scoped_lock lock(mutex_);
        const auto found = unreported_.find(id);
        return found != unreported_.end() && !found->second.empty();
    }
    /// Returns how many losses all subscribers had.
    [[nodiscard]] std::uint64_t heard() const {
        const std::scoped_lock lock(mutex_);
        return heard_;
    }
    /// Returns how many lost ranges of messages of send_to() had a position in what all subscribers receive.
    [[nodiscard]] std::uint64_t misplaced() const {
        const std::scoped_lock lock(mutex_);
        return misplaced_;
    }
    /// Returns how many messages of send_to() another thread has refused.
    [[nodiscard]] std::size_t refused() const {
        const std::scoped_lock lock(mutex_);
        return refused_;
    }
    /// Returns "" if the stream contains or reports 0, 1, 2 ... up to the last number published; otherwise where it
    /// does not.
    [[nodiscard]] std::string first_wrong(const std::vector<Seen>& stream) const {
        const Numbers numbers = learned(stream);
        for (std::size_t i = 0; i < std::max(next, numbers.size()); ++i) {
            if (i >= next || i >= numbers.size() || numbers[i] != i) {
                return "at " + std::to_string(i) + " of " + std::to_string(next) + " there is " +
                       (i < numbers.size() ? std::to_string(numbers[i]) : "nothing");
            }
        }
        return "";
    }

    /// Returns how much subscribers with backlogs of this size may keep together.
    [[nodiscard]] std::size_t kept_max(std::size_t backlog_bytes) const {
        const std::size_t one = limits::kept_apart_bytes_max + io_threads * 2 * backlog_bytes;
        return io_threads == 1 ? one : 2 * one;
    }

    static constexpr ChannelId direct_channel{1000};  // of the messages of send_to()
    static constexpr std::string_view direct_topic = "direct";
    const std::size_t io_threads;
    std::size_t next = 0;
    std::uint64_t messages_per_flush = 1;
    std::ptrdiff_t numbers_per_notice = 1000;
    std::string padding;  // of each gap notice's topic
    std::atomic<std::size_t> calls_of_write_notices{0};

  private:
    struct Unreported {
        std::string topic;
        std::uint64_t number;
        LossReason reason;
    };
    PublisherOptions with_hooks(PublisherOptions options) {
        options.loss_hooks.lost = [this](std::uint64_t id, const LostRun& run, LossReason reason) {
            const std::scoped_lock lock(mutex_);
            const bool is_direct = !run.samples.empty() && run.samples.front().channel == direct_channel;
            misplaced_ += is_direct && run.position ? 1U : 0U;
            for (auto each = run.samples.rbegin(); each != run.samples.rend(); ++each, ++heard_) {
                unreported_[id].push_back({topics_.at(each->channel), each->first_seq, reason});
            }
        };
        options.loss_hooks.write_notices = [this](std::uint64_t id, NoticeWriter& writer) {
            const std::scoped_lock lock(mutex_);
            return write_notices(unreported_[id], writer);
        };
        options.loss_hooks.refused = [this](std::uint64_t, const SampleRange& samples) {
            const std::scoped_lock lock(mutex_);
            refused_ += samples.channel == direct_channel ? 1U : 0U;
        };
        return options;
    }
    bool write_notices(std::vector<Unreported>& numbers, NoticeWriter& writer) {
        ++calls_of_write_notices;
        // Losses are reported in order before and after the pending messages, but not for both together.
        std::stable_sort(numbers.begin(), numbers.end(),
                         [](const Unreported& a, const Unreported& b) { return a.number < b.number; });
        const auto later = std::stable_partition(numbers.begin(), numbers.end(),
                                                 [&](const Unreported& each) { return writer.reports(each.reason); });
        auto told = numbers.begin();
        bool is_full = false;
        while (told != later && !is_full) {
            const auto end = told + std::min<std::ptrdiff_t>(numbers_per_notice, later - told);
            std::string text;
            for (auto each = told; each != end; ++each) {
                text += (text.empty() ? "" : " ") + std::to_string(each->number);
            }
            is_full = !writer.write(told->topic + padding + "$gap", text);
            told = is_full ? told : end;
        }
        numbers.erase(numbers.begin(), told);
        return is_full;
    }

    mutable std::mutex mutex_;  // guards the following five
    std::map<ChannelId, std::string> topics_;
    std::map<std::uint64_t, std::vector<Unreported>> unreported_;  // by subscriber
    std::uint64_t heard_ = 0;
    std::size_t refused_ = 0;
    std::uint64_t misplaced_ = 0;

  public:
    PublisherHarness h;  // last: its threads use all other members
};

}  // namespace telegate::test
