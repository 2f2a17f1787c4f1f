#include "network/host_lookup.hpp"

#include "core/start_thread.hpp"
#include "core/unique_fd.hpp"
#include "path_fault.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace telegate::network {
namespace {

struct Answered {
    std::vector<Address> addresses;
    int error = 0;  // from getaddrinfo()
};

Answered look_up(const HostPort& wanted, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | flags;
    addrinfo* list = nullptr;
    Answered answered;
    answered.error = ::getaddrinfo(wanted.host.c_str(), wanted.port.c_str(), &hints, &list);
    if (answered.error != 0) {
        return answered;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
    for (const addrinfo* each = list; each != nullptr && answered.addresses.size() < HostLookup::addresses_max;
         each = each->ai_next) {
        Address address;
        if (each->ai_addrlen <= sizeof(address.storage)) {
            std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
            address.bytes = each->ai_addrlen;
            answered.addresses.push_back(address);
        }
    }
    return answered;
}

}  // namespace

/// Written by the lookup thread before it sets `done`, and read by the other thread after that.
struct HostLookup::Job {
    Job() : event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (event.get() < 0) {
            throw std::system_error(errno, std::generic_category());
        }
    }

    /// Thread: its own.
    void run(const HostPort& wanted) noexcept {
        try {
            answered = look_up(wanted, 0);
        } catch (const std::bad_alloc&) {
            answered.error = EAI_MEMORY;
        }
        done.store(true, std::memory_order_release);
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = ::write(event.get(), &one, sizeof one);
    }

    const UniqueFd event;
    Answered answered;
    std::atomic<bool> done{false};
};

HostLookup::HostLookup(HostPort wanted) : wanted_(std::move(wanted)) {}

HostLookup::~HostLookup() = default;

HostLookup::Found HostLookup::find(const CancelSignal* cancel, MonoTime until) {
    if (Answered numeric = look_up(wanted_, AI_NUMERICHOST); numeric.error == 0) {
        return {Woken::ready, std::move(numeric.addresses), {}};
    }
    if (!job_) {
        try {
            auto job = std::make_shared<Job>();
            start_thread("tg-lookup", [job, wanted = wanted_] { job->run(wanted); }).detach();
            job_ = std::move(job);
        } catch (const std::system_error& error) {
            return {Woken::ready, {}, error_words(error.code().value())};
        }
    }
    const Woken woken = wait_for(job_->event.get(), POLLIN, cancel, until).woken;
    if (woken != Woken::ready || !job_->done.load(std::memory_order_acquire)) {
        return {woken == Woken::ready ? Woken::timed_out : woken, {}, {}};
    }
    const std::shared_ptr<Job> job = std::exchange(job_, nullptr);
    Found found{Woken::ready, std::move(job->answered.addresses), {}};
    if (job->answered.error != 0) {
        found.what = ::gai_strerror(job->answered.error);
    } else if (found.addresses.empty()) {
        found.what = "no address found";
    }
    return found;
}

}  // namespace telegate::network
