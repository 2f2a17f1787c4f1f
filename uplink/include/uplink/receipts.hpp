#pragma once

#include "core/clock.hpp"
#include "store/segment_format.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

namespace telegate::uplink {

/// The back end's number of a message that it has stored: higher than those of all messages that it stored before.
using Place = std::uint64_t;

/// The transmissions of a message. Their numbers grow from transmission to transmission of all messages.
struct Transmissions {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    bool is_complete = false;  // the message was not sent before the first one, also not by another process
};

/// How far the log was delivered in the last minutes. A back end acknowledges a message before it is safe on its disks,
/// so it may lose messages of these minutes, the grace. Its places then go back.
///
/// Threads: one.
/// Limits:  a position for each of `intervals` parts of the grace, and the places of the last places_max messages.
/// Failure: the functions that are not noexcept throw std::bad_alloc.
class Receipts {
  public:
    static constexpr int intervals = 32;
    static constexpr std::size_t places_max = 256;  // responses do not overtake that many others

    explicit Receipts(std::chrono::milliseconds grace) : grace_(grace) {}

    /// Continues with the resend_from() and the last_place() of the last process.
    void restore(MonoTime now, store::Position resend_from, Place last_place);
    /// Everything in the log before `position` is delivered, also after a crash of this process.
    void record_delivered(MonoTime now, store::Position position);
    void expire(MonoTime now) noexcept;
    /// Returns the position before which everything was delivered at least `grace` ago. 0: unknown.
    [[nodiscard]] store::Position keep_from() const noexcept { return keep_from_; }
    /// Returns from where the log has to be delivered again if the back end has lost messages of the grace.
    [[nodiscard]] store::Position resend_from() const noexcept;
    /// The log is delivered again from `position` on.
    void rewind(MonoTime now, store::Position position);

    [[nodiscard]] std::uint64_t next_transmission() noexcept { return ++transmission_; }
    void record_stored(const Transmissions& sent, Place place, bool is_duplicate);
    /// The back end has `last` now; it had at least `known` before.
    void compare(Place last, Place known) noexcept;
    [[nodiscard]] Place last_place() const noexcept { return last_place_; }
    /// Whether the back end has lost messages since the last rewind().
    [[nodiscard]] bool has_loss() const noexcept { return has_loss_; }

  private:
    /// A message that one of these transmissions has stored; first == 0: or one before.
    struct Stored {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        Place place = 0;
    };
    [[nodiscard]] bool contradicts(const Stored& stored) const noexcept;
    void record_lost(Place last) noexcept;

    std::chrono::milliseconds grace_;
    std::deque<std::pair<MonoTime, store::Position>> receipts_;  // in order
    store::Position keep_from_ = 0;
    Place last_place_ = 0;
    Place first_place_ = 0;  // messages that are not in stored_ have higher places
    std::deque<Stored> stored_;
    std::uint64_t last_sent_ = 0;  // no transmission in stored_ is later
    std::uint64_t transmission_ = 0;
    bool has_loss_ = false;
};

}  // namespace telegate::uplink
