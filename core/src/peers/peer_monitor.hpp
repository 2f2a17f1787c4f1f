#pragma once

#include "core/monitor.hpp"
#include "core/reactor.hpp"
#include "session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace telegate {

/// Reports events to the monitor of one socket. Without a monitor, each call costs a branch.
///
/// Threads: the reactor's. Limits: none of its own.
/// Failure: an exception of the handler leaves the reactor later, from a handler of its own.
class PeerMonitor {
  public:
    /// The conditions that have been reported about one session.
    struct Reported {
        bool slow = false;
        std::uint64_t dropped = 0;
    };

    explicit PeerMonitor(Reactor& reactor) noexcept : reactor_(reactor) {}

    void set(MonitorHandler handler);
    [[nodiscard]] bool is_on() const noexcept { return handler_ != nullptr; }

    void report(MonitorEventKind kind, std::string_view endpoint, std::string_view detail,
                std::string_view peer = {}) const;
    void report(MonitorEventKind kind, const Session& session, std::string_view detail, std::uint64_t count = 0) const;
    void report(const MonitorEvent& event) const;
    /// Reports handshake_done, handshake_failed or disconnected.
    void report(MonitorEventKind kind, const Session& session, std::string_view detail, const PeerStatus& status) const;
    /// Reports `slow` if the backlog has exceeded half of `backlog_bytes_max`, or of its own limit, since it was last
    /// empty.
    void report_if_slow(const Session& session, Reported& reported, std::size_t backlog_bytes_max) const;
    /// Reports `dropped` with the messages lost since the last report.
    void report_dropped(const Session& session, Reported& reported) const;

  private:
    Reactor& reactor_;
    std::shared_ptr<const MonitorHandler> handler_;  // shared with a call in progress, which may replace it
};

}  // namespace telegate
