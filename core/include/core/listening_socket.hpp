#pragma once

#include "core/endpoint.hpp"
#include "core/socket_options.hpp"
#include "core/unique_fd.hpp"

#include <memory>
#include <string>

namespace telegate {

/// A non-blocking listening socket and the endpoint that it is actually bound to.
struct ListeningSocket {
    UniqueFd descriptor;
    Endpoint endpoint;
    std::shared_ptr<const void> file = {};  // of an ipc socket at a path: removed when nothing refers to it
};

/// Binds a tcp or ipc endpoint and listens; of the options, only those of ipc files are used. Threads: any. Throws
/// std::system_error with the endpoint in its text; a live socket at an ipc path is std::errc::address_in_use.
[[nodiscard]] ListeningSocket listen_at(const Endpoint& endpoint, const SocketOptions& options);

/// Takes over a socket that another process has bound and put into the listening state: the service manager that
/// started this process. The file of an ipc socket is left to its creator. Threads: any. Throws std::system_error,
/// whose text begins with `name`, if it is not a listening TCP or Unix socket; the descriptor is closed then.
[[nodiscard]] ListeningSocket adopt_listening(UniqueFd descriptor, const std::string& name);

}  // namespace telegate
