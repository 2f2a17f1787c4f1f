#pragma once

#include "log/log.hpp"
#include "plan/plan.hpp"

namespace telegate {

/// Maximum number of sockets that are inherited: four times the maximum number of endpoints in the settings.
inline constexpr int inherited_sockets_max = 64;

/// Assigns the listening sockets that the service manager passes with the protocol of sd_listen_fds(3) to the endpoints
/// of the plan, by the name of the socket in its unit (FileDescriptorName=): a [publish] or [services] section has the
/// same name, and "http" is REST. A socket whose name no section has is closed and logged.
///
/// Removes LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES from the environment and marks the sockets close-on-exec.
/// Threads: the main thread, before other threads start, because it changes the environment.
/// Limits: inherited_sockets_max; further sockets and descriptors that are not sockets are logged and left untouched.
void adopt_sockets(Plan& plan, Log& log);

}  // namespace telegate
