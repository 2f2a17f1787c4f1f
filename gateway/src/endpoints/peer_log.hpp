#pragma once

#include "core/monitor.hpp"
#include "log/log.hpp"

#include <string_view>

namespace telegate {

/// Logs peers for operators: subscribers that connect and disconnect; and, once per address, cause and minute, peers
/// that were closed or refused, with the reason, and slow peers.
///
/// Threads: the monitor's. Limits: the log's. Failure: may throw std::bad_alloc.
class PeerLog {
  public:
    explicit PeerLog(Log& log) noexcept : log_(log) {}

    /// Logs an event of a subscriber.
    void log_event(const MonitorEvent& event);
    /// Logs an event of another peer, except normal connects and disconnects. `who` names the kind of peer.
    void log_trouble(const MonitorEvent& event, std::string_view who);

  private:
    Log& log_;
};

}  // namespace telegate
