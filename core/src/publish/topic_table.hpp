#pragma once

#include "buffers/segment_log.hpp"
#include "core/publisher.hpp"
#include "publish/shard_queue.hpp"
#include "publish/subscription_index.hpp"
#include "session/outbox.hpp"
#include "session/session.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate {

/// The readers of a topic. Topics share a set when their readers turn out to be equal.
struct ReaderSet {
    std::vector<SubscriberKey> keys;      // all readers, sorted
    std::vector<Session*> sessions;       // on the publisher's own thread
    std::vector<ShardReadersRef> shards;  // on other threads
    std::vector<Outbox*> outboxes;        // of the sessions and of the queues
    std::size_t flush_bytes = 0;          // long messages are written when this much is pending
    std::uint64_t begun_at = 0;           // PeerTable::flushes() when PublishLog::begin() was last needed
    std::uint64_t marked_at = 0;          // PeerTable::flushes() when the sessions were last marked
};

/// The encoded first frame of a topic's messages, with padding, so that it is copied in large steps. Empty if the topic
/// is in the payload.
/// Threads: the reactor's. Limits: none. Failure: set() may throw std::bad_alloc.
class TopicFrame {
  public:
    void set(std::string_view name, TopicPlace place);
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Copies the frame to the log, and up to segment_slack_bytes of arbitrary data after it.
    void copy_to(std::byte* out) const noexcept {
        const std::byte* const from = bytes_.data();
        std::memcpy(out, from, step_bytes);
        for (std::size_t copied = step_bytes; copied < size_; copied += step_bytes) {
            std::memcpy(out + copied, from + copied, step_bytes);
        }
    }

  private:
    static constexpr std::size_t step_bytes = 32;
    static_assert(step_bytes <= segment_slack_bytes);

    std::vector<std::byte> bytes_;  // a multiple of step_bytes
    std::size_t size_ = 0;
};

struct Topic {
    TopicFrame frame;
    std::shared_ptr<ReaderSet> readers;  // may be out of date; null: never searched
    std::uint64_t fresh_at = 0;          // the table's generation when `readers` was found
    std::string name;
};

/// All topics that were ever published, by number and by name.
///
/// A change of one subscription makes the topics under its prefix stale; their readers are found again when the topic
/// is next used. A prefix of very many topics makes all of them stale, so that the cost of a change is bounded.
///
/// Threads: the reactor's.
/// Limits: none: the publishing program chooses its topics.
/// Failure: intern() may throw std::bad_alloc.
class TopicTable {
  public:
    [[nodiscard]] TopicId intern(std::string_view name, TopicPlace place = TopicPlace::first_frame);
    [[nodiscard]] Topic& operator[](TopicId id) noexcept { return *topics_[static_cast<std::size_t>(id)]; }

    /// Returns the size of the longest frame, in bytes.
    [[nodiscard]] std::size_t frame_bytes_max() const noexcept { return frame_bytes_max_; }

    [[nodiscard]] bool is_fresh(const Topic& topic) const noexcept { return topic.fresh_at == generation_; }
    void set_fresh(Topic& topic) const noexcept { topic.fresh_at = generation_; }
    void make_stale(std::string_view prefix) noexcept;
    void make_all_stale() noexcept { ++generation_; }

  private:
    static constexpr std::size_t range_max = 256;

    std::vector<std::unique_ptr<Topic>> topics_;
    std::array<std::unordered_map<std::string_view, TopicId>, 2> ids_;  // by place
    std::multimap<std::string_view, Topic*> sorted_;
    std::uint64_t generation_ = 1;
    std::size_t frame_bytes_max_ = 0;
};

}  // namespace telegate
