#pragma once

#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "peers/peer_table.hpp"
#include "publish/deliveries.hpp"
#include "publish/lag_limit.hpp"
#include "publish/shard_link.hpp"
#include "publish/subscription_reader.hpp"
#include "shards/shard_notes.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

namespace telegate {

/// The calls from a shard to the publisher's thread. Made on the shard's thread; must not wait.
struct ShardCalls {
    std::function<void(std::shared_ptr<const ShardNotes::Batch>)> deliver;
    std::function<void()> wake;                       // there is progress that the publisher waits for
    std::function<void(std::exception_ptr)> pass_on;  // an exception that has left a handler
};

/// One of the publisher's other threads: its reactor, and the sessions that were handed to it. It adds the queue's
/// records to their outboxes, writes, and reports their subscriptions to the publisher's thread, which finds the
/// readers.
///
/// Threads: the constructor, the destructor, reactor() and post(): the publisher's. Everything else: the shard's own,
/// from within a posted call.
/// Limits: those of PeerTable and ShardNotes.
/// Failure: the constructor throws std::system_error if no descriptor or thread is available. An exception that leaves
/// a handler is passed on; of several in a row, only the first.
class Shard final : private SharedLog {
  public:
    /// `number`: of the thread, starting from 2.
    Shard(const PublisherOptions& options, std::size_t number, ShardLink& link, ShardCalls calls);
    /// Ends the thread, then closes everything immediately.
    ~Shard();
    Shard(const Shard&) = delete;
    Shard& operator=(const Shard&) = delete;

    [[nodiscard]] Reactor& reactor() noexcept { return reactor_; }
    /// Makes a call on the shard's thread, after those posted before.
    void post(std::function<void(Shard&)> call);

    /// Takes over a connection. `end`: the note for the publisher when the session has ended, or could not start.
    void adopt(Handover handover, ShardNotes::Batch end);
    /// Applies all records of the link, so that later queries include them.
    void catch_up();
    void set_monitored(bool monitored);
    /// See Deliveries.
    void set_delivery(const std::string& endpoint, const Delivery& delivery);
    void forget_delivery(const std::string& endpoint);
    [[nodiscard]] std::vector<PeerStatus> statuses() const { return deliveries_.statuses(); }
    [[nodiscard]] PeerTable& peers() noexcept { return peers_; }

  private:
    struct Place {
        std::uint64_t id = 0;  // 0: free
        Session* session = nullptr;
    };

    struct Kept {
        std::uint32_t place;
        ShardNotes::Batch end;  // the note of its end, which then needs no allocation
    };

    [[nodiscard]] SessionEvents events();
    void opened(Session& session);
    void ended(std::uint64_t id) noexcept;
    void read(Session& session);
    void read_unread();
    void run();
    void turn();
    void finish_turn();
    void report();
    void on_wake();
    [[nodiscard]] bool apply_some();
    void apply(const LinkRecord& record);
    void apply(const LinkNote& note);
    [[nodiscard]] std::uint64_t end() const noexcept override { return log_end_; }
    [[nodiscard]] std::uint64_t position() override { return position_; }
    void set_limits(std::size_t least, std::size_t largest) noexcept override;
    void enforce_kept_limit() override { lag_limit_.enforce_kept_limit(); }
    [[nodiscard]] bool others_must_wait(std::uint64_t) override { return false; }
    void borrow(SegmentLease& lease);
    void release_segment() noexcept;
    [[nodiscard]] Session* session_of(const ShardReader& reader) const noexcept;
    void refresh_progress() noexcept;

    const PublisherOptions options_;
    ShardLink& link_;
    const ShardCalls calls_;
    Reactor reactor_;
    ShardNotes notes_;
    SubscriptionReader reader_;
    PeerTable peers_;
    LagLimit lag_limit_;
    Deliveries deliveries_;
    std::vector<Place> places_;
    std::unordered_map<std::uint64_t, Kept> kept_;  // by session id
    std::deque<std::uint64_t> unread_;              // sessions to read when their notes can be added again

    SegmentLease* lease_ = nullptr;  // of the segment that records refer to
    SegmentRef segment_;             // the same segment, for the sessions
    std::uint64_t log_end_ = 0;
    std::uint64_t position_ = 0;                          // end of the last range
    std::uint64_t progress_read_at_ = 0;                  // log_end_ when the progress was last read
    std::uint64_t oldest_ = ReadProgress::nothing_waits;  // see ReadProgress; a lower bound
    std::uint64_t records_max_ = limits::backlog_runs_max;
    bool owes_wake_ = false;      // to the publisher
    bool are_terms_new_ = false;  // since the limit of blocking subscribers was reported

    Watch wake_watch_;
    Later later_on_wake_;
    std::exception_ptr failure_;  // to be passed on; null: none
    std::atomic<bool> stopping_{false};
    std::thread thread_;  // last: it uses all other members
};

}  // namespace telegate
