#pragma once

#include "buffers/segment_log.hpp"
#include "core/limits.hpp"
#include "core/waker.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace telegate {

/// A session of a shard: its place there, and its id, because places are reused.
struct LaneReader {
    std::uint32_t place = 0;
    std::uint64_t id = 0;

    bool operator<(const LaneReader& other) const noexcept {
        return place != other.place ? place < other.place : id < other.id;
    }
};

/// The readers of a topic in one shard. The list never changes; everything else belongs to the lane.
struct LaneReaders {
    std::span<const LaneReader> list;
    std::size_t uses = 0;           // number of reader sets, and of ranges in the lane
    std::uint64_t records_end = 0;  // records at or after this number do not refer to it
};

/// A segment of the log that a shard may read. Created and destroyed by the lane. The shard reads the constant members
/// and gives the loan back.
struct Loan {
    SegmentRef segment;  // used by the lane only
    std::byte* const bytes;
    const std::uint64_t start;
    const std::uint32_t capacity;
    Loan* next = nullptr;  // in the list of returned loans
};

/// One entry for a shard, in order: a range of the log and its readers; or, without a loan, only the log's end.
struct LaneRecord {
    Loan* loan = nullptr;
    const LaneReaders* readers = nullptr;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t messages = 0;
    std::uint64_t log_end = 0;  // end of the segment, or of the last one opened
};

/// The progress of a log's readers.
struct LaneProgress {
    static constexpr std::uint64_t nothing_waits = UINT64_MAX;

    std::uint64_t oldest;     // nothing pending lies before this position
    std::uint64_t runs_left;  // this many more ranges cause no loss
};

/// The link between the publisher's thread and a shard's: records in one direction, loans and progress in the other.
///
/// Threads: the publisher's and the shard's, each for its own functions.
/// Limits: lane_records_max records that are not applied yet; one loan for each segment that is read.
/// Failure: the constructor throws std::system_error if no descriptor is available.
///
/// A published record makes visible what the publisher has written; a returned loan guarantees that the shard has
/// finished reading. A waiter sets its flag and then rechecks; a producer publishes and then checks the flag. These
/// four operations are sequentially consistent, so that one of the two sides sees the other.
class LaneLink {
  public:
    // For the publisher.

    [[nodiscard]] std::uint64_t put_count() const noexcept { return put_; }
    /// Returns the number of records that the shard has applied. The progress that is read afterwards is at least as
    /// recent.
    [[nodiscard]] std::uint64_t applied() const noexcept { return applied_.load(); }
    [[nodiscard]] std::uint64_t oldest() const noexcept { return oldest_.load(); }
    [[nodiscard]] std::uint64_t records_max() const noexcept { return records_max_.load(); }
    [[nodiscard]] bool has_room() const noexcept { return put_ - applied() < records_.size(); }
    /// Adds a record, which the shard does not see before publish(). Requires has_room().
    void put(const LaneRecord& record) noexcept { records_[put_++ % records_.size()] = record; }
    void publish() noexcept {
        published_.store(put_);
        wake_shard();
    }
    /// Requests a wake-up when more records were applied.
    void await_progress() noexcept { awaits_progress_.store(true); }
    /// Requests a wake-up when nothing before `oldest` is pending and this many records cause no loss.
    void await_room(std::uint64_t oldest, std::uint64_t records) noexcept {
        const bool is_new = awaited_records_.exchange(records) != records;
        if (awaited_oldest_.exchange(oldest) != oldest || is_new) {
            wake_shard();  // it has to check
        }
    }
    /// Returns all loans that were given back, as a linked list.
    [[nodiscard]] Loan* take_back() noexcept {
        return back_.load(std::memory_order_relaxed) == nullptr ? nullptr
                                                                : back_.exchange(nullptr, std::memory_order_acquire);
    }

    // For the shard.

    /// Returns the oldest record that was not taken, or null.
    [[nodiscard]] const LaneRecord* front() noexcept {
        return taken_ == published_.load(std::memory_order_acquire) ? nullptr : &records_[taken_ % records_.size()];
    }
    void take() noexcept { ++taken_; }
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
    /// Requests a wake-up when there is a record. Returns false if there already is one.
    [[nodiscard]] bool await_record() noexcept {
        shard_waits_.store(true);
        const bool waits = published_.load() == taken_;
        if (!waits) {
            shard_waits_.store(false);
        }
        return waits;
    }
    [[nodiscard]] bool is_room_awaited() const noexcept { return awaited_oldest_.load() != nobody_waits; }
    [[nodiscard]] bool is_all_reported() const noexcept { return taken_ == applied_.load(std::memory_order_relaxed); }
    /// Reports that everything taken is applied, and the progress of the sessions. Returns true if the publisher must
    /// be woken.
    [[nodiscard]] bool report(std::uint64_t oldest, std::uint64_t records_max) noexcept;
    void give_back(Loan* loan) noexcept {
        loan->next = back_.load(std::memory_order_relaxed);
        while (!back_.compare_exchange_weak(loan->next, loan, std::memory_order_release, std::memory_order_relaxed)) {
        }
    }
    [[nodiscard]] Waker& waker() noexcept { return waker_; }

  private:
    static constexpr std::size_t cache_line_bytes = 64;
    static constexpr std::uint64_t nobody_waits = 0;

    void wake_shard() noexcept {
        if (shard_waits_.load() && shard_waits_.exchange(false)) {
            waker_.wake();
        }
    }

    // Written by the publisher.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> published_{0};
    alignas(cache_line_bytes) std::uint64_t put_ = 0;
    // Written by the shard.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> applied_{0};
    std::atomic<std::uint64_t> oldest_{LaneProgress::nothing_waits};
    std::atomic<std::uint64_t> records_max_{limits::backlog_runs_max};
    std::atomic<Loan*> back_{nullptr};
    alignas(cache_line_bytes) std::uint64_t taken_ = 0;
    // Written when a side starts or ends a wait.
    alignas(cache_line_bytes) std::atomic<bool> shard_waits_{true};
    std::atomic<bool> awaits_progress_{false};
    std::atomic<std::uint64_t> awaited_oldest_{nobody_waits};
    std::atomic<std::uint64_t> awaited_records_{0};

    alignas(cache_line_bytes) std::array<LaneRecord, limits::lane_records_max> records_;
    static_assert((limits::lane_records_max & (limits::lane_records_max - 1)) == 0,
                  "must be a power of two, so that % is a mask");
    Waker waker_;  // wakes the shard
};

inline bool LaneLink::report(std::uint64_t oldest, std::uint64_t records_max) noexcept {
    oldest_.store(oldest);
    records_max_.store(records_max);
    const bool is_more = !is_all_reported();
    applied_.store(taken_);  // after the two above, see applied()
    bool wake = is_more && awaits_progress_.load() && awaits_progress_.exchange(false);
    std::uint64_t awaited = awaited_oldest_.load();
    if (awaited != nobody_waits && oldest >= awaited && records_max >= awaited_records_.load()) {
        wake = awaited_oldest_.compare_exchange_strong(awaited, nobody_waits) || wake;
    }
    return wake;
}

}  // namespace telegate
