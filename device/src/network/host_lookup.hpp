#pragma once

#include "core/clock.hpp"
#include "device/cancel_signal.hpp"
#include "network/host_port.hpp"
#include "wait.hpp"

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

/// Resolves a host to addresses. A numeric address is resolved immediately. A name is resolved by a separate thread,
/// because getaddrinfo() has no timeout and cannot be interrupted.
///
/// Threads: one at a time; the lookup thread may outlive the object.
/// Limits: one lookup at a time, so none starts while an earlier one is pending. At most addresses_max addresses.
/// Failure: find() returns `timed_out`, `canceled`, or `ready` with an error text.
class HostLookup {
  public:
    static constexpr std::size_t addresses_max = 8;

    struct Found {
        Woken woken = Woken::ready;
        std::vector<Address> addresses = {};
        std::string what = {};  // error text with `ready` and no addresses
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
