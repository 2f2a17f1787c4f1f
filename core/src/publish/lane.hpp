#pragma once

#include "buffers/segment_log.hpp"
#include "publish/lane_link.hpp"
#include "session/outbox.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <utility>
#include <vector>

namespace telegate {

class Lane;

/// A reader set's part in a lane. Must go before the lane.
/// Threads: the lane's. Limits: two pointers. Failure: none.
class LaneShare {
  public:
    LaneShare(Lane& lane, LaneReaders& readers) noexcept : lane_(&lane), readers_(&readers) { ++readers_->uses; }
    LaneShare(LaneShare&& other) noexcept : lane_(other.lane_), readers_(std::exchange(other.readers_, nullptr)) {}
    LaneShare& operator=(LaneShare&& other) noexcept {
        std::swap(lane_, other.lane_);
        std::swap(readers_, other.readers_);
        return *this;
    }
    ~LaneShare();

    [[nodiscard]] Lane& lane() const noexcept { return *lane_; }
    [[nodiscard]] LaneReaders& readers() const noexcept { return *readers_; }

  private:
    Lane* lane_;
    LaneReaders* readers_;
};

/// The publisher's end of the way to one shard. To the log it is one reader whose outbox() gets the messages that
/// sessions of the shard want; it passes them on as stretches, each with its readers, and keeps what the shard cannot
/// take yet. The shard reads the log's own memory; a segment that it may read is not used again.
///
/// Threads: the publisher's.
/// Limits:  backlog_runs_max stretches, within backlog_bytes_max of the log's end; the shard is handed at most as much
///          again. What is given up counts as lost for each of its readers, see take_losses().
/// Failure: begin(), share_of() and flush() may throw std::bad_alloc.
class Lane {
  public:
    /// Goes after who reads at the other end of the link. `backlog_bytes_max` of the log.
    Lane(LaneLink& link, SegmentPool& pool, std::size_t backlog_bytes_max);
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    void share(Tail& tail) noexcept { outbox_.share(tail); }
    [[nodiscard]] Outbox& outbox() noexcept { return outbox_; }
    /// Equal lists have one set of readers.
    [[nodiscard]] LaneShare share_of(std::vector<LaneReader> list);
    /// What outbox() gets next is for these.
    void begin(LaneReaders& readers) {
        collect();
        readers_ = &readers;
    }
    /// A segment of the log was opened that ends there.
    void enforce(std::uint64_t log_end);

    /// Passes on what there is and the shard takes, and wakes it. What is left waits for progress of the shard, which
    /// then has flush() called.
    void flush();
    [[nodiscard]] bool empty() const noexcept { return first_ == waiting_.size(); }
    /// Gives up all that was not passed on.
    void give_up_all();

    /// Messages that its readers have lost here since the last call.
    using Losses = std::map<LaneReader, std::uint64_t>;
    [[nodiscard]] Losses take_losses() { return std::exchange(losses_, {}); }

    /// Lists of readers that are kept.
    [[nodiscard]] std::size_t lists() const noexcept { return lists_.size(); }

    /// A lower bound, with what waits here and on the way.
    [[nodiscard]] LaneProgress progress() const noexcept;
    /// The shard wakes the publisher when nothing waits before that position and it has room for one more stretch.
    void await_room(std::uint64_t oldest) noexcept;

  private:
    friend class LaneShare;

    struct Stretch {
        SegmentRef segment;
        LaneReaders* readers = nullptr;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        std::uint32_t messages = 0;

        [[nodiscard]] std::uint64_t position() const noexcept { return segment->start + begin; }
        [[nodiscard]] std::uint64_t log_end() const noexcept { return segment->start + segment->capacity; }
    };
    struct Lent final : Loan {
        std::list<Lent>::iterator self;
    };
    /// What is remembered of a record that the shard may not have applied.
    struct Sent {
        std::uint64_t position = 0;
        std::uint64_t log_end = 0;
    };

    void collect();
    void add(Stretch stretch);
    void give_up_oldest();
    void pop() noexcept;
    void take_back() noexcept;
    [[nodiscard]] bool can_put(std::uint64_t log_end) const noexcept;
    void put(Stretch& stretch);
    void put_log_end();
    void let_go(LaneReaders& readers) noexcept;
    void forget_unused();
    [[nodiscard]] std::uint64_t stretches_made() const noexcept;

    LaneLink& link_;
    const std::uint64_t backlog_bytes_max_;
    Outbox outbox_;                   // what came since begin()
    LaneReaders* readers_ = nullptr;  // of that
    std::vector<Stretch> waiting_;    // from first_
    std::size_t first_ = 0;
    Losses losses_;
    std::map<std::vector<LaneReader>, LaneReaders> lists_;
    std::size_t unused_ = 0;  // of these
    std::list<Lent> loans_;   // not back
    Loan* loan_ = nullptr;    // of the segment passed on last, while more of it may follow
    std::uint64_t log_end_ = 0;
    std::uint64_t put_end_ = 0;  // of the stretch passed on last
    std::uint64_t log_end_told_ = 0;
    std::uint64_t window_begin_ = 0;  // where the log was when the shard had last applied everything
    std::uint64_t published_ = 0;
    std::vector<Sent> sent_;  // by record, twice as many as the shard may not have applied
};

inline LaneShare::~LaneShare() {
    if (readers_ != nullptr) {
        lane_->let_go(*readers_);
    }
}

}  // namespace telegate
