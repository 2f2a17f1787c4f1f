#include "process_figures.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <system_error>
#include <utility>

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
    return {*resident, *proportional, *anonymous,
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

}  // namespace telegate::perf
