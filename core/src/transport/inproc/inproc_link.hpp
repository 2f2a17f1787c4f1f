#pragma once

#include "buffers/ring.hpp"
#include "core/limits.hpp"
#include "core/waker.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace telegate::transport {

/// A range of the writer's memory that the reader may read.
struct Piece {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
};

/// One direction of a link: pieces in order, lent by the writer and returned by the reader.
///
/// Threads: one writer, one reader. Each side has its own cache lines, and remembers what it last saw of the other
/// side.
/// Limits: inproc_parts_max pieces that were not returned.
/// Failure: none.
///
/// A waiter sets its flag and then rechecks; the other side publishes and then checks the flag. All four accesses are
/// sequentially consistent, so at least one of the two sides sees the other.
class PieceRing {
  public:
    // For the writer.

    [[nodiscard]] std::uint64_t put_count() const noexcept { return put_; }
    /// Returns the number of pieces returned so far.
    [[nodiscard]] std::uint64_t finished() const noexcept { return finished_.load(std::memory_order_acquire); }
    /// Adds a piece, which the reader does not see before publish(). The ring must not be full.
    void put(Piece piece) noexcept { pieces_[put_++] = piece; }
    /// Returns the last piece if it is not published, otherwise null.
    [[nodiscard]] Piece* unpublished() noexcept {
        return put_ == published_.load(std::memory_order_relaxed) ? nullptr : &pieces_[put_ - 1];
    }
    /// Publishes all pieces. Returns true if the reader must be woken.
    [[nodiscard]] bool publish() noexcept {
        published_.store(put_);
        return reader_waits_.load() && reader_waits_.exchange(false);
    }
    void end() noexcept { ended_.store(true); }
    [[nodiscard]] bool is_reader_gone() const noexcept { return gone_.load(); }
    /// Requests a wake-up when `count` pieces in total were returned or the reader is gone. Returns true if that is
    /// already the case.
    [[nodiscard]] bool await_finished(std::uint64_t count) noexcept {
        writer_waits_for_.store(count);
        return finished_.load() >= count || gone_.load();
    }

    // For the reader.

    /// Returns the oldest piece that was not removed, or null.
    [[nodiscard]] const Piece* front() noexcept {
        if (taken_ == published_seen_) {
            published_seen_ = published_.load(std::memory_order_acquire);
        }
        return taken_ == published_seen_ ? nullptr : &pieces_[taken_];
    }
    void pop() noexcept { ++taken_; }
    /// Returns the removed pieces to the writer. The result is true if the writer must be woken.
    [[nodiscard]] bool finish() noexcept {
        finished_.store(taken_);
        std::uint64_t count = writer_waits_for_.load();
        return taken_ >= count && writer_waits_for_.compare_exchange_strong(count, nobody_waits);
    }
    /// Returns whether nothing will follow what front() returns. Must be called before front(), because the last pieces
    /// come first.
    [[nodiscard]] bool has_ended() const noexcept { return ended_.load(); }
    void leave() noexcept { gone_.store(true); }
    /// Requests a wake-up for the next piece or the end. Returns true if there is one already.
    [[nodiscard]] bool await_piece() noexcept {
        reader_waits_.store(true);
        return published_.load() != taken_ || ended_.load();
    }

  private:
    static constexpr std::size_t cache_line_bytes = 64;
    static constexpr std::uint64_t nobody_waits = UINT64_MAX;

    // Written by the writer.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> published_{0};
    std::atomic<bool> ended_{false};
    alignas(cache_line_bytes) std::uint64_t put_ = 0;
    // Written by the reader.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> finished_{0};
    std::atomic<bool> gone_{false};
    alignas(cache_line_bytes) std::uint64_t taken_ = 0;
    std::uint64_t published_seen_ = 0;
    // Written when a side has to wait.
    alignas(cache_line_bytes) std::atomic<bool> reader_waits_{false};
    std::atomic<std::uint64_t> writer_waits_for_{nobody_waits};

    alignas(cache_line_bytes) Ring<Piece, limits::inproc_parts_max> pieces_;
};

/// The state that the two ends of an inproc connection share: side 0 and side 1.
/// Threads: each side's own. Limits: as PieceRing. Failure: the constructor throws if no descriptors are available.
struct InprocLink {
    /// Indexed by the side that writes.
    std::array<PieceRing, 2> rings;
    /// Indexed by the side that is woken.
    std::array<Waker, 2> wakers;
    /// Memory with pieces that a closed side has written, indexed by that side. It is freed with the link, when the
    /// reader is gone.
    std::array<std::vector<std::shared_ptr<std::byte[]>>, 2> left_behind;
};

}  // namespace telegate::transport
