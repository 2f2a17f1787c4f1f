#include "app/activated_sockets.hpp"

#include "app/service_notify.hpp"
#include "core/text.hpp"
#include "core/unique_fd.hpp"
#include "log/log_line.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {
namespace {

constexpr int first_descriptor = 3;  // SD_LISTEN_FDS_START

struct Socket {
    std::string name;
    UniqueFd descriptor;
};

/// Removes and returns the name before the next colon; "unknown" if it is empty, as in sd_listen_fds_with_names(3).
std::string take_name(std::string_view& names) {
    const std::string_view name = names.substr(0, names.find(':'));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    return std::string(name.empty() ? "unknown" : name);
}

bool is_socket(int descriptor) noexcept {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode);
}

std::vector<Socket> inherited_sockets(Log& log) {
    std::vector<Socket> sockets;
    const auto count = parse_number<std::uint64_t>(take_variable("LISTEN_FDS"));
    const auto pid = parse_number<std::uint64_t>(take_variable("LISTEN_PID"));
    const std::string all_names = take_variable("LISTEN_FDNAMES");
    if (!count || pid != static_cast<std::uint64_t>(::getpid())) {
        return sockets;
    }
    std::string_view names = all_names;
    for (int descriptor = first_descriptor; static_cast<std::uint64_t>(descriptor - first_descriptor) < *count;
         ++descriptor) {
        if (descriptor - first_descriptor == inherited_sockets_max) {
            log.warn(LogLine("too many inherited sockets").add("count", *count).add("taken", inherited_sockets_max));
            return sockets;
        }
        std::string name = take_name(names);
        if (!is_socket(descriptor)) {
            log.warn(LogLine("inherited descriptor is not a socket").quote("name", name).add("descriptor", descriptor));
            continue;
        }
        ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        sockets.push_back({std::move(name), UniqueFd(descriptor)});
    }
    return sockets;
}

/// Removes the first socket with this name and returns its descriptor, which the caller then owns; -1 for none.
int claim(std::vector<Socket>& sockets, std::string_view name) {
    const auto found =
        std::find_if(sockets.begin(), sockets.end(), [&](const Socket& socket) { return socket.name == name; });
    if (found == sockets.end()) {
        return -1;
    }
    const int descriptor = found->descriptor.release();
    sockets.erase(found);
    return descriptor;
}

}  // namespace

void adopt_sockets(Plan& plan, Log& log) {
    std::vector<Socket> sockets = inherited_sockets(log);
    for (FormatEndpoint& each : plan.publish) {
        each.adopted = claim(sockets, each.name);
    }
    for (ServiceEndpoint& each : plan.services) {
        each.adopted = claim(sockets, each.name);
    }
    plan.rest.adopted_socket = claim(sockets, "http");
    for (const Socket& socket : sockets) {
        log.warn(LogLine("closing inherited socket: no section has this name")
                     .quote("name", socket.name)
                     .add("descriptor", socket.descriptor.get()));
    }
}

}  // namespace telegate
