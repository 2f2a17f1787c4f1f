#pragma once

#include "core/limits.hpp"
#include "core/waker.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace telegate::transport {

/// A stretch of the writer's memory, for the reader to look at.
struct Piece {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
};

/// One direction of a link: pieces in order, lent by the writer and given back by the reader.
///
/// Threads: one writer, one reader. Each side has its own cache lines, and remembers what it last saw of the other's.
/// Limits:  inproc_parts_max pieces that were not given back.
/// Failure: none.
///
/// Who waits says so first and looks once more; who hands over does so first and looks then whether the other waits.
/// All four are sequentially consistent, so that one of the two sees the other.
class PieceRing {
  public:
    // The writer's.

    [[nodiscard]] std::uint64_t put_count() const noexcept { return put_; }
    /// Pieces given back so far.
    [[nodiscard]] std::uint64_t finished() const noexcept { return finished_.load(std::memory_order_acquire); }
    /// Not seen by the reader before publish(). There must be room.
    void put(Piece piece) noexcept { pieces_[put_++ % pieces_.size()] = piece; }
    /// The last piece, while it is not published.
    [[nodiscard]] Piece* unpublished() noexcept {
        return put_ == published_.load(std::memory_order_relaxed) ? nullptr : &pieces_[(put_ - 1) % pieces_.size()];
    }
    /// True when the reader is to be woken.
    [[nodiscard]] bool publish() noexcept {
        published_.store(put_);
        return reader_waits_.load() && reader_waits_.exchange(false);
    }
    void end() noexcept { ended_.store(true); }
    [[nodiscard]] bool is_reader_gone() const noexcept { return gone_.load(); }
    /// Asks to be woken when `count` pieces in all were given back, or the reader has gone. True when that is so
    /// already.
    [[nodiscard]] bool ask_for_finished(std::uint64_t count) noexcept {
        writer_waits_for_.store(count);
        return finished_.load() >= count || gone_.load();
    }

    // The reader's.

    /// The oldest piece that was not taken, or null.
    [[nodiscard]] const Piece* front() noexcept {
        if (taken_ == published_seen_) {
            published_seen_ = published_.load(std::memory_order_acquire);
        }
        return taken_ == published_seen_ ? nullptr : &pieces_[taken_ % pieces_.size()];
    }
    void take() noexcept { ++taken_; }
    /// Gives back all pieces taken. True when the writer is to be woken.
    [[nodiscard]] bool finish() noexcept {
        finished_.store(taken_);
        std::uint64_t count = writer_waits_for_.load();
        return taken_ >= count && writer_waits_for_.compare_exchange_strong(count, nobody_waits);
    }
    /// Whether nothing will follow what front() shows. To be asked before front(), since the last pieces come first.
    [[nodiscard]] bool has_ended() const noexcept { return ended_.load(); }
    void leave() noexcept { gone_.store(true); }
    /// Asks to be woken when there is a piece, or the end. True when there is already.
    [[nodiscard]] bool ask_for_piece() noexcept {
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
    // Written when one has to wait.
    alignas(cache_line_bytes) std::atomic<bool> reader_waits_{false};
    std::atomic<std::uint64_t> writer_waits_for_{nobody_waits};

    alignas(cache_line_bytes) std::array<Piece, limits::inproc_parts_max> pieces_;
    static_assert((limits::inproc_parts_max & (limits::inproc_parts_max - 1)) == 0, "so that % is a mask");
};

/// What the two ends of an inproc connection share: side 0 and side 1.
/// Threads: each side's own. Limits: as PieceRing. Failure: the constructor throws without descriptors.
struct InprocLink {
    /// By the side that writes.
    std::array<PieceRing, 2> rings;
    /// By the side that is woken.
    std::array<Waker, 2> wakers;
    /// Memory that the side which wrote it has left behind with pieces in it. Goes with the link, when the reader has.
    std::array<std::vector<std::shared_ptr<std::byte[]>>, 2> left_behind;
};

}  // namespace telegate::transport
