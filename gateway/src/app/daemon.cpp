#include "app/daemon.hpp"

#include "base/exit_code.hpp"
#include "config/joined.hpp"
#include "core/start_thread.hpp"
#include "status/state_text.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <vector>

namespace telegate {
namespace {

constexpr std::array by_urgency{SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP};

/// Checks per watchdog timeout: two while the gateway is alive, more while it is not, so that a recovered gateway sends
/// the next ping in time.
constexpr int looks_alive = 2;
constexpr int looks_stuck = 10;

/// Returns ": REST at A, B", or `none` if there are no URLs.
std::string places_text(const char* what, const std::vector<std::string>& urls, const char* none) {
    return urls.empty() ? none : what + joined(urls);
}

/// Returns what the last reload did not change, for the service status, because `systemctl reload` itself never fails.
std::string reload_text(const std::optional<ReloadStatus>& last) {
    if (!last || !is_refusal(last->outcome)) {
        return !last || last->needs_restart.empty() ? "" : "; waits for a restart: " + joined(last->needs_restart);
    }
    const std::string count = std::to_string(last->problems_count);
    return "; settings not changed: " + count + (last->problems_count == 1 ? " problem" : " problems") +
           ", see /status or the log";
}

/// Returns " pump: reason; devices: reason" for the failed checks that are warnings, or for those that are not.
std::string failed_checks_text(const Health& health, bool warnings) {
    std::string text;
    for (const HealthCheck& check : health.checks) {
        if (!check.good && check.is_warning == warnings) {
            text += (text.empty() ? " " : "; ") + std::string(check.name) + ": " + check.detail;
        }
    }
    return text;
}

std::string with_warnings(const std::string& text, const Health& health) {
    const std::string warnings = failed_checks_text(health, true);
    return warnings.empty() ? text : text + "; warning:" + warnings;
}

}  // namespace

Signals::Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : by_urgency) {
        sigaddset(&set, signal);
    }
    std::signal(SIGPIPE, SIG_IGN);  // writing to a disconnected peer is an error code instead of a fatal signal
    std::signal(SIGXFSZ, SIG_IGN);  // and so is exceeding the file size limit
    if (::pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0) {
        throw std::system_error(errno, std::generic_category(), "pthread_sigmask");
    }
    descriptor_ = UniqueFd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
    if (descriptor_.get() < 0) {
        throw std::system_error(errno, std::generic_category(), "signalfd");
    }
}

// One read for all signals: the kernel returns the lowest number first, so with one read per signal a storm of SIGHUP
// would hide a SIGTERM.
std::vector<int> Signals::read() {
    std::array<signalfd_siginfo, by_urgency.size()> infos{};
    const ssize_t bytes = ::read(descriptor_.get(), infos.data(), sizeof infos);
    const auto count = static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)) / sizeof infos.front();
    std::vector<int> come;
    for (const int signal : by_urgency) {
        const auto is_it = [&](const signalfd_siginfo& info) {
            return info.ssi_signo == static_cast<std::uint32_t>(signal);
        };
        if (std::any_of(infos.begin(), infos.begin() + static_cast<std::ptrdiff_t>(count), is_it)) {
            come.push_back(signal);
        }
    }
    return come;
}

void Daemon::run() {
    notify_.ready(running_text());
    std::array<pollfd, 2> waiting{pollfd{signals_.descriptor(), POLLIN, 0},
                                  pollfd{gateway_.stopped_descriptor(), POLLIN, 0}};
    while (!is_cut_ && waiting[1].revents == 0) {
        ::poll(waiting.data(), waiting.size(), supervise());
        for (const int signal : signals_.read()) {
            answer(signal);
        }
    }
}

void Daemon::answer(int signal) {
    switch (signal) {
        case SIGHUP:
            if (!is_stopping_) {
                notify_.reloading();
                gateway_.live_settings().reload("SIGHUP");
                notify_.ready(running_text());
            }
            return;
        case SIGUSR1: return log_.reopen();
        case SIGUSR2: return log_state();
        default: return request_stop();
    }
}

void Daemon::request_stop() {
    if (is_stopping_) {
        log_.warn_each("second signal received: stopping immediately");
        is_cut_ = true;
        leave_without_stuck();
        return;
    }
    is_stopping_ = true;
    notify_.stopping();
    // begin_stop() waits for threads; this thread continues to handle signals.
    stop_ = std::async(std::launch::async, [this] {
        name_thread("tg-stop");
        gateway_.begin_stop();
    });
}

/// Ends the process if a thread does not stop in time.
void Daemon::leave_without_stuck() {
    leaving_ = std::jthread([this](const std::stop_token& stopped) {
        name_thread("tg-leave");
        constexpr std::chrono::seconds patience{1};
        std::mutex mutex;
        std::condition_variable_any over;
        std::unique_lock lock(mutex);
        over.wait_for(lock, stopped, patience, [] { return false; });
        if (!stopped.stop_requested()) {
            log_.error("a thread did not stop: exiting without it");
            std::_Exit(exit_code::internal);
        }
    });
}

void Daemon::log_state() {
    for (const LogLine& line : state_lines(gateway_.health(), gateway_.snapshot())) {
        log_.info_each(line);
    }
}

int Daemon::supervise() {
    if (notify_.watchdog_time() == Duration(0)) {
        return -1;
    }
    MonoTime now = clock_.mono_now();
    if (now >= check_at_) {
        const Health health = gateway_.health();
        if (health.alive()) {
            notify_.watchdog();
        }
        if (!is_stopping_) {
            const std::string text =
                health.ready() ? running_text()
                               : "not ready:" + failed_checks_text(health, false) + reload_text(last_reload());
            notify_.status(with_warnings(text, health));
        }
        now = clock_.mono_now();
        check_at_ = now + notify_.watchdog_time() / (health.alive() ? looks_alive : looks_stuck);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(check_at_ - now);
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 1));
}

std::string Daemon::running_text() const {
    return "running" + places_text(": REST at ", gateway_.rest_urls(), ", without REST") +
           places_text("; services at ", gateway_.service_urls(), "") + reload_text(last_reload());
}

std::optional<ReloadStatus> Daemon::last_reload() const {
    return gateway_.live_settings().status().last_reload;
}

}  // namespace telegate
