#include "app/activated_sockets.hpp"

#include "app/service_notify.hpp"
#include "log/log_line.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

constexpr int first_descriptor = 3;  // SD_LISTEN_FDS_START

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

}  // namespace

ActivatedSockets::ActivatedSockets(Log& log) : log_(log) {
    const auto count = to_number(take_variable("LISTEN_FDS"));
    const auto pid = to_number(take_variable("LISTEN_PID"));
    const std::string all_names = take_variable("LISTEN_FDNAMES");
    if (!count || pid != static_cast<std::uint64_t>(::getpid())) {
        return;
    }
    std::string_view names = all_names;
    for (int descriptor = first_descriptor; static_cast<std::uint64_t>(descriptor - first_descriptor) < *count;
         ++descriptor) {
        if (descriptor - first_descriptor == sockets_max) {
            log_.warn(LogLine("too many inherited sockets").add("count", *count).add("taken", sockets_max));
            return;
        }
        std::string name = take_name(names);
        if (!is_socket(descriptor)) {
            log_.warn(
                LogLine("inherited descriptor is not a socket").quote("name", name).add("descriptor", descriptor));
            continue;
        }
        ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        sockets_.push_back({std::move(name), UniqueFd(descriptor)});
    }
}

ActivatedSockets::~ActivatedSockets() {
    for (const Socket& socket : sockets_) {
        log_.warn(LogLine("closing inherited socket: no section has this name")
                      .quote("name", socket.name)
                      .add("descriptor", socket.descriptor.get()));
    }
}

std::optional<int> ActivatedSockets::take(std::string_view name) {
    const auto found =
        std::find_if(sockets_.begin(), sockets_.end(), [&](const Socket& socket) { return socket.name == name; });
    if (found == sockets_.end()) {
        return std::nullopt;
    }
    const int descriptor = found->descriptor.release();
    sockets_.erase(found);
    return descriptor;
}

void hand_over(ActivatedSockets& sockets, Plan& plan) {
    for (std::size_t i = 0; i < plan.publish.size(); ++i) {
        plan.publish[i].adopted = sockets.take(plan.publish[i].name).value_or(-1);
    }
    for (ServiceEndpoint& each : plan.services) {
        each.adopted = sockets.take(each.name).value_or(-1);
    }
    plan.rest.adopted_socket = sockets.take("http").value_or(-1);
}

}  // namespace telegate
