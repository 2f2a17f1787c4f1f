#include "app/service_notify.hpp"

#include "core/text.hpp"
#include "log/log_line.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <system_error>

namespace telegate {
namespace {

/// Returns the watchdog timeout that the service manager requests; 0: no watchdog.
Duration take_watchdog_time() {
    constexpr std::uint64_t usec_max = 3'600'000'000;  // an hour; a longer timeout makes no difference
    const auto usec = parse_number<std::uint64_t>(take_variable("WATCHDOG_USEC"));
    const std::string pid = take_variable("WATCHDOG_PID");
    const bool is_ours = pid.empty() || parse_number<std::uint64_t>(pid) == static_cast<std::uint64_t>(::getpid());
    return std::chrono::microseconds(usec && is_ours ? std::min(*usec, usec_max) : 0);
}

/// Returns the message on one line, because text after a line break would be a separate message.
std::string status_line(std::string_view text) {
    std::string line = "STATUS=" + std::string(text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

int open_socket() noexcept {
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        return descriptor;
    }
    constexpr auto time_max = std::chrono::microseconds(ServiceNotify::send_time_max);
    const timeval send_time{.tv_sec = time_max.count() / 1'000'000, .tv_usec = time_max.count() % 1'000'000};
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &send_time, sizeof send_time);
    return descriptor;
}

}  // namespace

ServiceNotify::ServiceNotify(Log& log) : log_(log) {
    address_ = take_variable("NOTIFY_SOCKET");
    const Duration watchdog_time = take_watchdog_time();
    if (address_.empty()) {
        return;
    }
    if (address_.size() >= sizeof sockaddr_un{}.sun_path || (address_.front() != '/' && address_.front() != '@')) {
        log_.warn(
            LogLine("cannot notify service manager: NOTIFY_SOCKET must be a path or @name").quote("value", address_));
        return;
    }
    if (address_.front() == '@') {
        address_.front() = '\0';
    }
    socket_ = UniqueFd(open_socket());
    if (socket_.get() < 0) {
        log_.warn(LogLine("cannot notify service manager: cannot create a socket")
                      .quote("reason", std::generic_category().message(errno)));
        return;
    }
    watchdog_time_ = watchdog_time;
}

void ServiceNotify::ready(std::string_view status) {
    last_status_ = status;
    send("READY=1\n" + status_line(status));
}

void ServiceNotify::reloading() {
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(SystemClock().mono_now().time_since_epoch());
    send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now.count()));
}

void ServiceNotify::stopping() {
    last_status_ = "stopping";
    send("STOPPING=1\n" + status_line("stopping"));
}

void ServiceNotify::status(std::string_view text) {
    if (last_status_ != text) {
        last_status_ = text;
        send(status_line(text));
    }
}

void ServiceNotify::watchdog() {
    send("WATCHDOG=1");
}

void ServiceNotify::send(const std::string& message) {
    if (socket_.get() < 0) {
        return;
    }
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::copy(address_.begin(), address_.end(), std::begin(to.sun_path));
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
    if (::sendto(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to),
                 bytes) < 0) {
        const std::string why = std::generic_category().message(errno);
        log_.warn_limited("notify", LogLine("cannot notify service manager")
                                        .quote("message", message.substr(0, message.find('\n')))
                                        .quote("reason", why));
    }
}

std::string take_variable(const char* name) {
    const char* const value = std::getenv(name);
    std::string taken = value != nullptr ? value : "";
    ::unsetenv(name);
    return taken;
}

}  // namespace telegate
