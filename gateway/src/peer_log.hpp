#pragma once

#include "core/monitor.hpp"
#include "log.hpp"

namespace telegate {

/// Writes into the log what an operator wants to know of the publisher's peers: who came, who left and why, whom we
/// closed or refused, once per peer and minute, and who reads too slowly.
///
/// Threads: the monitor's. Limits: the log's. Failure: may throw std::bad_alloc.
class PeerLog {
  public:
    explicit PeerLog(Log& log) noexcept : log_(log) {}

    void note(const MonitorEvent& event);

  private:
    Log& log_;
};

}  // namespace telegate
