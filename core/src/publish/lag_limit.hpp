#pragma once

#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "peers/peer_table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace telegate {

/// Keeps the sessions that read from a log within their distance from its end. A session that is further behind loses
/// its oldest messages, or is treated as its SlowReader says. A session that holds too much dropped data is closed.
/// Sessions that lose messages at the same time are limited in number, because noting what each of them misses costs as
/// much as publishing to it: of those beyond the limit, the client with the most loses its newest.
///
/// Threads: the reactor's.
/// Limits: the given ones, see limits::backlog_bytes_max, limits::held_bytes_max and limits::kept_apart_bytes_max, and
/// slow_max. A subscriber for which can_be_over() is true may keep one more segment until the next event-loop
/// iteration. Failure: enforce() may throw std::bad_alloc, as may the event-loop iteration that completes its work.
class LagLimit {
  public:
    /// Sessions that have lost messages, and have read nothing newer while slow_segments_min segments were opened. With
    /// 1,700 samples in each of 20 segments a second, they use a twentieth of a processor.
    static constexpr std::size_t slow_max = 128;
    static constexpr unsigned slow_segments_min = 4;

    struct Limits {
        std::size_t backlog_bytes_max;
        std::size_t held_bytes_max;
        std::size_t kept_apart_bytes_max;
        std::size_t backlogs;  // of the largest size, in addition to kept_apart_bytes_max
    };
    /// Returns the limits for the publisher's own thread, whose memory the other threads read too.
    [[nodiscard]] static Limits limits_of(const PublisherOptions& options) noexcept;
    /// Returns the limits for another thread.
    [[nodiscard]] static Limits shard_limits_of(const PublisherOptions& options) noexcept;

    LagLimit(Reactor& reactor, PeerTable& peers, Limits limits);

    /// Enforces the limits after a segment that ends at `log_end` was opened.
    void enforce(std::uint64_t log_end);
    /// Enforces the limit of what is kept for single subscribers, after more was sent to one of them.
    void enforce_kept_limit();
    /// Sets the largest backlog that a SlowReader may have, in bytes.
    void set_largest(std::size_t backlog_bytes_max) noexcept { largest_ = backlog_bytes_max; }

  private:
    void keep_within(Session& session);
    void keep_all_within();
    void cut_off(Session& session);
    void limit_slow();
    void enforce_held_limit();
    void close_too_slow();

    PeerTable& peers_;
    const Limits limits_;
    std::size_t largest_;
    std::uint64_t log_end_ = 0;
    std::vector<Session*> slow_;           // see slow_max, during enforce()
    Later later_keep_;                     // for subscribers that are slightly over their limits
    std::vector<std::uint64_t> too_slow_;  // ids of the sessions to be closed
    std::vector<std::uint64_t> too_many_;  // likewise
    Later later_close_;                    // closes them; not within send(), which the monitor may call
};

}  // namespace telegate
