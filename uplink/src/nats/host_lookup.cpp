#include "nats/host_lookup.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace telegate::uplink {
namespace {

std::atomic<int> lookups{0};

std::vector<HostAddress> find(const std::string& host, const std::string& port, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    std::vector<HostAddress> addresses;
    if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) == 0) {
        const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
        for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
            HostAddress& address = addresses.emplace_back();
            address.bytes = each->ai_addrlen;
            std::memcpy(&address.address, each->ai_addr, each->ai_addrlen);
        }
    }
    return addresses;
}

/// Blocks all signals for the threads that are created meanwhile: those of the program have their own threads.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all{};
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_{};
};

}  // namespace

struct HostLookup::State {
    State() {
        if (descriptor < 0) {
            throw std::system_error(errno, std::generic_category(), "eventfd");
        }
    }
    ~State() { ::close(descriptor); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void finish(std::vector<HostAddress> found) {
        {
            const std::lock_guard lock(mutex);
            addresses = std::move(found);
        }
        const std::uint64_t one = 1;
        (void)!::write(descriptor, &one, sizeof one);
    }

    const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    std::mutex mutex;  // guards addresses
    std::vector<HostAddress> addresses;
};

HostLookup::HostLookup(const std::string& host, const std::string& port) : state_(std::make_shared<State>()) {
    if (lookups.fetch_add(1) >= lookups_max) {
        --lookups;
        state_->finish({});
        return;
    }
    const SignalsBlocked blocked;
    try {
        std::thread([state = state_, host, port] {
            ::pthread_setname_np(::pthread_self(), "tg-lookup");
            try {
                state->finish(find(host, port, AI_ADDRCONFIG));
            } catch (const std::exception&) {  // out of memory
                state->finish({});
            }
            --lookups;
        }).detach();
    } catch (...) {  // no thread, or out of memory
        --lookups;
        throw;
    }
}

int HostLookup::descriptor() const noexcept {
    return state_->descriptor;
}

std::vector<HostAddress> HostLookup::take() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->addresses, {});
}

std::vector<HostAddress> HostLookup::numeric(const std::string& host, const std::string& port) {
    return find(host, port, AI_NUMERICHOST);
}

}  // namespace telegate::uplink
