#pragma once

#include "core/monitor.hpp"
#include "log.hpp"

namespace telegate {

/// Writes into the log what an operator wants to know of the publisher's peers: who came and who left; and once per
/// address, cause and minute whom we closed or refused and why, and who reads too slowly.
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
