#pragma once

#include "core/publisher.hpp"
#include "outbox.hpp"
#include "session.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate {

/// Who receives a topic.
struct Reader {
    Session* session;
    Outbox* outbox;  // the session's
};

struct Topic {
    std::string name;
    std::vector<std::byte> frame;  // the finished first frame of its messages
    std::vector<Reader> readers;   // when fresh
    std::uint64_t fresh_at = 0;    // the table's generation that `readers` were found in
    std::uint64_t marked_at = 0;   // PeerTable::flushes() when the readers were last marked
};

/// All topics that were ever published, by number and by name.
///
/// A change of one subscription makes the topics under its prefix stale; their readers are found again when the topic
/// is next used. A prefix of very many topics makes all of them stale, so that a change costs the same whatever it is.
///
/// Threads: the reactor's.
/// Limits:  none: the publishing program chooses its topics.
/// Failure: intern() may throw std::bad_alloc.
class TopicTable {
  public:
    [[nodiscard]] TopicId intern(std::string_view name);
    [[nodiscard]] Topic& operator[](TopicId id) noexcept { return *topics_[static_cast<std::size_t>(id)]; }

    [[nodiscard]] bool is_fresh(const Topic& topic) const noexcept { return topic.fresh_at == generation_; }
    void set_fresh(Topic& topic) const noexcept { topic.fresh_at = generation_; }
    void make_stale(std::string_view prefix) noexcept;
    void make_all_stale() noexcept { ++generation_; }

  private:
    static constexpr std::size_t range_max = 256;

    std::vector<std::unique_ptr<Topic>> topics_;
    std::unordered_map<std::string_view, TopicId> ids_;
    std::map<std::string_view, Topic*> sorted_;
    std::uint64_t generation_ = 1;
};

}  // namespace telegate
