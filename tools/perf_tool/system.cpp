#include "system.hpp"

#include <malloc.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>

namespace telegate::perf {

namespace {

std::string folder_of(pid_t process) {
    return "/proc/" + (process == 0 ? "self" : std::to_string(process));
}

ThreadFigures sum_of(const std::vector<ThreadFigures>& threads, std::string_view prefix) {
    ThreadFigures sum{std::string(prefix)};
    for (const ThreadFigures& thread : threads) {
        if (thread.name.starts_with(prefix)) {
            sum.cpu_ns += thread.cpu_ns;
            sum.wake_ups += thread.wake_ups;
            sum.preemptions += thread.preemptions;
        }
    }
    return sum;
}

}  // namespace

std::size_t bytes_allocated() noexcept {
    const auto heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

std::vector<ThreadFigures> threads_of(pid_t process) {
    const std::string root = folder_of(process) + "/task";
    std::vector<ThreadFigures> threads;
    std::error_code fault;
    for (const auto& entry : std::filesystem::directory_iterator(root, fault)) {
        const std::string folder = entry.path().string();
        const std::string status = content_of(folder + "/status");
        const std::string run_time = content_of(folder + "/schedstat");
        std::string name = content_of(folder + "/comm");
        if (!status.empty() && !run_time.empty() && !name.empty()) {
            name.pop_back();  // the line feed
            threads.push_back({std::move(name), std::stoull(run_time),
                               number_after(status, "voluntary_ctxt_switches").value_or(0),
                               number_after(status, "nonvoluntary_ctxt_switches").value_or(0)});
        }
    }
    if (threads.empty()) {
        throw std::runtime_error("cannot read threads in " + root);
    }
    return threads;
}

ThreadFigures since(const std::vector<ThreadFigures>& before, const std::vector<ThreadFigures>& now,
                    std::string_view prefix) {
    const ThreadFigures old = sum_of(before, prefix);
    ThreadFigures sum = sum_of(now, prefix);
    sum.cpu_ns -= old.cpu_ns;
    sum.wake_ups -= old.wake_ups;
    sum.preemptions -= old.preemptions;
    return sum;
}

ProcessMemory memory_of(pid_t process) {
    const std::string folder = folder_of(process);
    const std::string rollup = content_of(folder + "/smaps_rollup");
    const auto resident = number_after(rollup, "Rss");
    const auto proportional = number_after(rollup, "Pss");
    const auto anonymous = number_after(rollup, "Anonymous");
    std::error_code fault;
    const std::filesystem::directory_iterator descriptors(folder + "/fd", fault);
    if (!resident || !proportional || !anonymous || fault) {
        throw std::runtime_error("cannot read the memory of a process in " + folder);
    }
    return {static_cast<double>(*resident), static_cast<double>(*proportional), static_cast<double>(*anonymous),
            static_cast<std::size_t>(std::distance(begin(descriptors), end(descriptors)))};
}

std::optional<std::uint64_t> number_after(const std::string& text, const std::string& name) {
    std::smatch found;
    if (!std::regex_search(text, found, std::regex("(?:^|\n)" + name + ":[ \t]*([0-9]+)"))) {
        return std::nullopt;
    }
    return std::stoull(found[1]);
}

std::string content_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::optional<std::pair<int, int>> two_processors() {
    cpu_set_t set;
    checked(::sched_getaffinity(0, sizeof set, &set), "sched_getaffinity");
    std::vector<int> available;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (CPU_ISSET(static_cast<unsigned>(processor), &set)) {
            available.push_back(processor);
        }
    }
    return available.size() < 2 ? std::nullopt : std::optional(std::pair(available.front(), available.back()));
}

void pin_thread(int processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(processor), &one);
    checked(::sched_setaffinity(0, sizeof one, &one), "sched_setaffinity");
}

ScratchFolder::ScratchFolder() : path_((std::filesystem::temp_directory_path() / "telegate-perf-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
        throw std::runtime_error("cannot create " + path_);
    }
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string ScratchFolder::write(const std::string& name, const std::string& text) const {
    std::string path = path_ + "/" + name;
    if (!(std::ofstream(path) << text).flush()) {
        throw std::runtime_error("cannot write " + path);
    }
    return path;
}

LocalListener::LocalListener(sa_family_t family)
    : socket(checked(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")) {
    sockaddr_storage storage{};
    storage.ss_family = family;
    socklen_t bytes = sizeof(sa_family_t);
    if (family == AF_INET) {
        reinterpret_cast<sockaddr_in&>(storage).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        bytes = sizeof(sockaddr_in);
        constexpr int on = 1;  // accepted connections inherit it
        checked(::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
    }
    auto* const generic = reinterpret_cast<sockaddr*>(&storage);
    checked(::bind(socket.get(), generic, bytes), "bind");
    checked(::listen(socket.get(), SOMAXCONN), "listen");
    bytes = sizeof storage;
    checked(::getsockname(socket.get(), generic, &bytes), "getsockname");
    address.assign(reinterpret_cast<const char*>(&storage), bytes);
}

UniqueFd connect_to(const std::string& address) {
    const auto* const generic = reinterpret_cast<const sockaddr*>(address.data());
    UniqueFd socket(checked(::socket(generic->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
    checked(::connect(socket.get(), generic, static_cast<socklen_t>(address.size())), "connect");
    if (generic->sa_family == AF_INET) {
        constexpr int on = 1;
        checked(::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
    }
    return socket;
}

}  // namespace telegate::perf
