#pragma once

#include "core/unique_fd.hpp"
#include "log/log.hpp"
#include "plan/plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Listening sockets inherited from the service manager with the protocol of sd_listen_fds(3), each with the name from
/// its unit (FileDescriptorName=). Empty without a service manager.
///
/// Threads: the main thread, before other threads start, because it changes the environment.
/// Limits: sockets_max; further sockets and descriptors that are not sockets are logged and left untouched.
/// Failure: the destructor closes sockets that were not taken and logs a warning with the name of each.
class ActivatedSockets {
  public:
    static constexpr int sockets_max = 64;  // four times the maximum number of endpoints in the settings

    /// Removes LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES from the environment and marks the sockets close-on-exec.
    explicit ActivatedSockets(Log& log);
    ~ActivatedSockets();
    ActivatedSockets(const ActivatedSockets&) = delete;
    ActivatedSockets& operator=(const ActivatedSockets&) = delete;

    /// Returns the first socket with this name that was not taken; the caller then owns it. nullopt: no such socket.
    [[nodiscard]] std::optional<int> take(std::string_view name);

  private:
    struct Socket {
        std::string name;
        UniqueFd descriptor;
    };

    Log& log_;
    std::vector<Socket> sockets_;
};

/// Assigns inherited sockets to the endpoints of the plan by the name of their [publish] or [services] section, and the
/// socket named "http" to REST.
void hand_over(ActivatedSockets& sockets, Plan& plan);

}  // namespace telegate
