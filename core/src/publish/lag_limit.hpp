#pragma once

#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "peers/peer_table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace telegate {

/// Keeps the sessions that read from a log within their distance from its end: whoever is further behind loses its
/// oldest messages, or what its SlowReader says, and whoever holds too much of what was given up is closed.
///
/// Threads: the reactor's.
/// Limits:  those given, see limits::backlog_bytes_max, limits::held_bytes_max and limits::kept_apart_bytes_max; who
///          can_be_over() may keep a segment more until the next turn of the loop.
/// Failure: enforce() may throw std::bad_alloc, and so may the turn of the loop in which it is made good.
class LagLimit {
  public:
    struct Limits {
        std::size_t backlog_bytes_max;
        std::size_t held_bytes_max;
    };
    /// Those of a publisher, for one of its threads.
    [[nodiscard]] static Limits limits_of(const PublisherOptions& options) noexcept;

    LagLimit(Reactor& reactor, PeerTable& peers, Limits limits);

    /// A segment was opened that ends there.
    void enforce(std::uint64_t log_end);
    /// Something was given to one subscriber alone, which it keeps until it has read it.
    void enforce_kept_limit();
    /// What the largest backlog of a SlowReader may be.
    void set_largest(std::size_t backlog_bytes_max) noexcept { largest_ = backlog_bytes_max; }

  private:
    void keep_within(Session& session);
    void keep_all_within();
    void cut_off(Session& session);
    void enforce_held_limit();
    void close_too_slow();

    PeerTable& peers_;
    const Limits limits_;
    std::size_t largest_;
    std::uint64_t log_end_ = 0;
    Later later_keep_;                     // within their limits, those who are hardly over
    std::vector<std::uint64_t> too_slow_;  // session ids, of those that were cut off
    Later later_close_;                    // of these; not from within send(): a monitor that hears may well send
};

}  // namespace telegate
