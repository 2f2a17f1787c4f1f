#pragma once

#include "log/log.hpp"
#include "plan/plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The listening sockets that the service manager hands over, each under the name that its unit gives it
/// (FileDescriptorName=): the protocol of sd_listen_fds(3). Without a manager there are none.
///
/// Threads: the main thread, before others start, since it changes the environment.
/// Limits:  sockets_max; more are left alone, with a warning, as is what is no socket.
/// Failure: what nobody takes is closed at the end, with a warning that names it.
class ActivatedSockets {
  public:
    static constexpr int sockets_max = 64;  // four times the endpoints that the settings may have

    /// Takes LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES out of the environment, and keeps children from inheriting the
    /// sockets.
    explicit ActivatedSockets(Log& log);
    ~ActivatedSockets();
    ActivatedSockets(const ActivatedSockets&) = delete;
    ActivatedSockets& operator=(const ActivatedSockets&) = delete;

    /// The first socket of this name that has not been taken. It is the caller's from then on.
    [[nodiscard]] std::optional<int> take(std::string_view name);

  private:
    struct Socket {
        std::string name;
        int descriptor;
    };

    Log& log_;
    std::vector<Socket> sockets_;
};

/// Gives each endpoint of the plan the socket that has the name of its [publish] or [services] section, and REST the
/// one named "http".
void hand_over(ActivatedSockets& sockets, Plan& plan);

}  // namespace telegate
