#pragma once

#include "core/unique_fd.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace telegate::perf {

/// Listens on a free port of the loopback, takes every connection and all that comes over it, and never says a word,
/// as a device that hangs.
///
/// Threads: the owner's, and one of its own; accepted() any. Limits: connections_max at once; others wait to be taken,
/// which is no word either. Failure: the constructor throws std::system_error.
class SilentPeer {
  public:
    static constexpr std::size_t connections_max = 512;  // a process has 1,024 descriptors by default

    SilentPeer();
    ~SilentPeer();
    SilentPeer(const SilentPeer&) = delete;
    SilentPeer& operator=(const SilentPeer&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_.load(std::memory_order_relaxed); }

  private:
    void run();
    void accept_one();

    UniqueFd listener_;
    UniqueFd stop_;  // an eventfd
    std::uint16_t port_ = 0;
    std::vector<UniqueFd> connections_;  // the thread's
    std::atomic<std::uint64_t> accepted_{0};
    std::thread thread_;
};

}  // namespace telegate::perf
