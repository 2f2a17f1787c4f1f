#include "signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace telegate {

Signals::Signals() : descriptor_(-1) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
        sigaddset(&set, signal);
    }
    std::signal(SIGPIPE, SIG_IGN);  // a peer that has gone is an error code, not a reason to die
    if (::pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0) {
        throw std::system_error(errno, std::generic_category(), "pthread_sigmask");
    }
    descriptor_ = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (descriptor_ < 0) {
        throw std::system_error(errno, std::generic_category(), "signalfd");
    }
}

Signals::~Signals() {
    ::close(descriptor_);
}

std::optional<int> Signals::take() noexcept {
    signalfd_siginfo info{};
    if (::read(descriptor_, &info, sizeof info) != sizeof info) {
        return std::nullopt;
    }
    return static_cast<int>(info.ssi_signo);
}

}  // namespace telegate
