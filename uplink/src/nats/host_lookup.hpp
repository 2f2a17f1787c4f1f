#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

namespace telegate::uplink {

struct HostAddress {
    sockaddr_storage address{};
    socklen_t bytes = 0;
};

/// Resolves the name of a host on its own thread (tg-lookup), which is abandoned if the lookup is destroyed before its
/// end: a name server that does not respond blocks nobody.
///
/// Threads: one.
/// Limits:  lookups_max threads in the process; then a lookup fails at once.
/// Failure: take() returns no address. The constructor throws std::system_error if it cannot create the thread.
class HostLookup {
  public:
    static constexpr int lookups_max = 16;

    HostLookup(const std::string& host, const std::string& port);

    /// Returns a descriptor that is readable once take() has the result. It is owned by the lookup.
    [[nodiscard]] int descriptor() const noexcept;
    [[nodiscard]] std::vector<HostAddress> take();

    /// Returns the address of a host that is not a name; empty for a name. Never blocks.
    [[nodiscard]] static std::vector<HostAddress> numeric(const std::string& host, const std::string& port);

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace telegate::uplink
