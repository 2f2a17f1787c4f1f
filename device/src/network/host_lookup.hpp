#pragma once

#include "core/clock.hpp"
#include "device/cancel_signal.hpp"
#include "network/host_port.hpp"
#include "network/wait.hpp"

#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace telegate::network {

struct Address {
    sockaddr_storage storage{};
    socklen_t bytes = 0;
};

/// Finds the addresses of a host. A numeric one takes no time; a name is looked up by a thread of its own, since
/// getaddrinfo() neither has a deadline nor can be cut short.
///
/// Threads: one at a time; the lookup's own thread outlives the object if it has to.
/// Limits:  one lookup at a time: while an old one has no answer no new one begins. addresses_max are kept.
/// Failure: find() answers `timed_out`, `cancelled`, or `ready` with words for what went wrong.
class HostLookup {
  public:
    static constexpr std::size_t addresses_max = 8;

    struct Found {
        Woken woken = Woken::ready;
        std::vector<Address> addresses = {};
        std::string what = {};  // with ready and no addresses
    };

    explicit HostLookup(HostPort wanted);
    ~HostLookup();
    HostLookup(const HostLookup&) = delete;
    HostLookup& operator=(const HostLookup&) = delete;

    [[nodiscard]] Found find(const CancelSignal* cancel, MonoTime until);

  private:
    struct Job;

    const HostPort wanted_;
    std::shared_ptr<Job> job_;
};

}  // namespace telegate::network
