#pragma once

#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "peer_table.hpp"
#include "watch.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace telegate {

/// Keeps the sessions that read from a log within their distance from its end: whoever is further behind loses its
/// oldest messages, and whoever holds too much of what was given up is closed.
///
/// Threads: the reactor's.
/// Limits:  those given, see limits::backlog_bytes_max and limits::held_bytes_max.
/// Failure: enforce() may throw std::bad_alloc.
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

  private:
    void enforce_held_limit();
    void close_too_slow();

    PeerTable& peers_;
    const Limits limits_;
    std::vector<std::uint64_t> too_slow_;  // session ids, of those that enforce_held_limit() cut off
    Later later_close_;                    // of these; not from within send(): a monitor that hears may well send
};

}  // namespace telegate
