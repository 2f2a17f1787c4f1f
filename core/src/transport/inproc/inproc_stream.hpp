#pragma once

#include "core/limits.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "reactor/busy_polls.hpp"
#include "transport/inproc/inproc_in_flight.hpp"
#include "transport/inproc/inproc_link.hpp"
#include "transport/stream.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace telegate::transport {

/// One end of a connection within the process. Only data without a segment is copied: the peer reads the writer's own
/// memory and reports when it is done.
///
/// Threads: the reactor's thread; the other end may be on another one.
/// Limits: inproc_parts_max pieces, and about 512 KiB, or 2 MiB of segments with goes_round, of bytes that the peer is
/// not done with. A single part may exceed that, whatever its size.
/// Failure: as Stream; EPIPE when the peer is gone.
class InprocStream final : public Stream, private BusyPolled {
  public:
    /// `side`: 0 or 1; the other end has the other one.
    InprocStream(Reactor& reactor, std::shared_ptr<InprocLink> link, std::size_t side) noexcept;
    ~InprocStream() override;

    void watch(std::function<void()> on_readable, std::function<void()> on_writable) override;
    void wait_readable() override;
    void wait_writable() override;
    [[nodiscard]] bool is_writable() noexcept override { return can_write(); }

    [[nodiscard]] StreamWrite write(std::span<const StreamPart> parts) override;
    [[nodiscard]] StreamRead read(Input& input) override;
    void end_writing() noexcept override;

    /// Returns the bytes that the peer is not done with. Also releases those that it is done with, so that an idle
    /// connection that is checked from time to time keeps no memory.
    [[nodiscard]] std::size_t unacknowledged_bytes() const noexcept override;
    [[nodiscard]] std::int64_t acknowledged_ms_ago() const noexcept override { return -1; }

    [[nodiscard]] std::string peer() const override { return "inproc"; }
    [[nodiscard]] std::string address() const override { return ""; }
    [[nodiscard]] bool stays_in_process() const noexcept override { return true; }

  private:
    /// Outlives the stream while a callback runs.
    struct Calls {
        std::function<void()> on_readable;
        std::function<void()> on_writable;
        bool gone = false;
    };

    /// Twice the size of one flush, so that we write one half while the peer reads the other.
    static constexpr std::size_t bytes_in_flight = 2 * limits::flush_bytes_in_process;
    static constexpr std::size_t bytes_in_flight_round = 2 * limits::flush_bytes;

    /// A sleep this short is mostly the time it takes to wake up, so the next wait then starts with polling.
    static constexpr std::chrono::microseconds waits_worth_polling{100};

    /// Memory for the parts of one write that have no segment.
    struct Copies {
        InprocInFlight::Block block;
        std::size_t used = 0;
    };

    void wake_peer() noexcept { link_->wakers[1 - side_].wake(); }
    void wake_myself() noexcept { link_->wakers[side_].wake(); }
    void wait();
    [[nodiscard]] bool poll() noexcept override;
    void found() override;
    void not_found() override;
    void woken();
    void request_wake();
    void call_back();
    void reclaim() const noexcept { in_flight_.release_before(out_.finished()); }
    [[nodiscard]] bool can_read() noexcept { return in_.front() != nullptr || in_.has_ended(); }
    [[nodiscard]] bool can_write() noexcept;
    /// Returns whether the writer may have to wait for the piece that our reader holds, which only a read returns.
    [[nodiscard]] bool holds_up_writer() const noexcept { return lent_bytes_ > bytes_in_flight / 2; }
    [[nodiscard]] bool put(const StreamPart& part, Copies& copies);
    void return_pieces() noexcept;

    Reactor& reactor_;
    const std::shared_ptr<InprocLink> link_;
    const std::size_t side_;
    PieceRing& out_;
    PieceRing& in_;
    mutable InprocInFlight in_flight_;
    std::size_t bytes_in_flight_max_ = bytes_in_flight;  // for the last part offered
    std::size_t front_read_ = 0;                         // bytes of the oldest piece that were already copied
    std::size_t lent_bytes_ = 0;                         // of the piece that the input refers to
    bool wants_readable_ = false;
    bool wants_writable_ = false;
    bool is_polled_ = false;   // by the event loop, before it sleeps
    bool polls_first_ = true;  // the last wait was short
    std::chrono::steady_clock::time_point asleep_since_{};
    std::shared_ptr<Calls> calls_;
    std::unique_ptr<Watch> watch_;
};

}  // namespace telegate::transport
