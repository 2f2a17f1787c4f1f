#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace telegate {

struct HostAddress {
    sockaddr_storage storage{};
    socklen_t bytes = 0;
};

/// Resolves the name of a host on its own thread (tg-lookup), because getaddrinfo() has no timeout and cannot be
/// interrupted. The thread is abandoned if the lookup is destroyed before its end.
///
/// Threads: one.
/// Limits: lookups_max threads in the process; then a lookup fails at once. At most addresses_max addresses.
/// Failure: take_result() returns an error. The constructor throws std::system_error if it cannot create the thread.
class HostLookup {
  public:
    static constexpr int lookups_max = 256;
    static constexpr std::size_t addresses_max = 8;

    struct Result {
        std::vector<HostAddress> addresses;
        int error = 0;  // of getaddrinfo()
    };

    HostLookup(const std::string& host, const std::string& port);

    /// Returns a descriptor that is readable once take_result() has the result. It is owned by the lookup.
    [[nodiscard]] int descriptor() const noexcept;
    [[nodiscard]] Result take_result();

    /// Returns the address of a host that is not a name; an error for a name. Never blocks.
    [[nodiscard]] static Result numeric(const std::string& host, const std::string& port);

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace telegate
