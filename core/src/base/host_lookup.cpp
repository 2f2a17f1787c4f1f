#include "core/host_lookup.hpp"

#include "core/start_thread.hpp"
#include "core/unique_fd.hpp"

#include <netdb.h>
#include <nss.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

std::atomic<int> lookups{0};

/// Limits a program without a dynamic linker, that is a static one, to /etc/hosts and DNS, which are part of it. Other
/// services of the system are shared libraries, which may need another version of the C library.
void limit_name_services() {
    if (::getauxval(AT_BASE) == 0) {
        ::__nss_configure_lookup("hosts", "files dns");
    }
}

HostLookup::Result find(const std::string& host, const std::string& port, int flags) {
    static std::once_flag once;
    std::call_once(once, limit_name_services);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    HostLookup::Result result;
    result.error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
    if (result.error != 0) {
        return result;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
    for (const addrinfo* each = list; each != nullptr && result.addresses.size() < HostLookup::addresses_max;
         each = each->ai_next) {
        HostAddress& address = result.addresses.emplace_back();
        address.bytes = each->ai_addrlen;
        std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    }
    return result;
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
        if (event.get() < 0) {
            throw std::system_error(errno, std::generic_category(), "eventfd");
        }
    }

    void finish(Result found) {
        {
            const std::lock_guard lock(mutex);
            result = std::move(found);
        }
        const std::uint64_t one = 1;
        (void)!::write(event.get(), &one, sizeof one);
    }

    const UniqueFd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::mutex mutex;  // guards result
    Result result{.addresses = {}, .error = EAI_AGAIN};
};

HostLookup::HostLookup(const std::string& host, const std::string& port) : state_(std::make_shared<State>()) {
    if (lookups.fetch_add(1) >= lookups_max) {
        --lookups;
        state_->finish({.addresses = {}, .error = EAI_AGAIN});
        return;
    }
    const SignalsBlocked blocked;
    try {
        start_thread("tg-lookup", [state = state_, host, port] {
            state->finish(find(host, port, 0));
            --lookups;
        }).detach();
    } catch (...) {  // no thread
        --lookups;
        throw;
    }
}

int HostLookup::descriptor() const noexcept {
    return state_->event.get();
}

HostLookup::Result HostLookup::take_result() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->result, {});
}

HostLookup::Result HostLookup::numeric(const std::string& host, const std::string& port) {
    return find(host, port, AI_NUMERICHOST);
}

}  // namespace telegate
