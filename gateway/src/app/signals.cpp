#include "app/signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace telegate {
namespace {

constexpr std::array by_urgency{SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP};

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
std::vector<int> Signals::take() {
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

}  // namespace telegate
