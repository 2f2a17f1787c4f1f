#pragma once

#include "core/monitor.hpp"
#include "log/log.hpp"

#include <string_view>

namespace telegate {

/// Writes into the log what an operator wants to know of peers: who came and who left; and once per address, cause and
/// minute whom we closed or refused and why, and who reads too slowly.
///
/// Threads: the monitor's. Limits: the log's. Failure: may throw std::bad_alloc.
class PeerLog {
  public:
    explicit PeerLog(Log& log) noexcept : log_(log) {}

    /// Of subscribers.
    void note(const MonitorEvent& event);
    /// The same of others, but not who came, nor who left by itself.
    void note_trouble(const MonitorEvent& event, std::string_view who);

  private:
    Log& log_;
};

}  // namespace telegate
