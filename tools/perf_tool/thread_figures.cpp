#include "thread_figures.hpp"

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace telegate::perf {

namespace {

std::uint64_t first_number(const std::string& text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::optional<ThreadFigures> figures_at(const std::string& folder) {
    const std::string status = text_of(folder + "/status");
    const std::string run_time = text_of(folder + "/schedstat");
    std::string name = text_of(folder + "/comm");
    if (status.empty() || run_time.empty() || name.empty()) {
        return std::nullopt;
    }
    name.pop_back();  // the end of the line
    return ThreadFigures{std::move(name), first_number(run_time),
                         number_after(status, "voluntary_ctxt_switches").value_or(0),
                         number_after(status, "nonvoluntary_ctxt_switches").value_or(0)};
}

ThreadFigures sum_of(const std::vector<ThreadFigures>& threads, std::string_view name_begin) {
    ThreadFigures sum{std::string(name_begin), 0, 0, 0};
    for (const ThreadFigures& thread : threads) {
        if (thread.name.starts_with(name_begin)) {
            sum.cpu_ns += thread.cpu_ns;
            sum.wake_ups += thread.wake_ups;
            sum.cut_offs += thread.cut_offs;
        }
    }
    return sum;
}

}  // namespace

std::vector<ThreadFigures> threads_of(pid_t process) {
    const std::string root = "/proc/" + (process == 0 ? "self" : std::to_string(process)) + "/task";
    std::vector<ThreadFigures> threads;
    std::error_code fault;
    for (const auto& entry : std::filesystem::directory_iterator(root, fault)) {
        if (auto figures = figures_at(entry.path().string())) {
            threads.push_back(std::move(*figures));
        }
    }
    if (threads.empty()) {
        throw std::runtime_error("no thread can be read at " + root);
    }
    return threads;
}

ThreadFigures since(const std::vector<ThreadFigures>& before, const std::vector<ThreadFigures>& now,
                    std::string_view name_begin) {
    const ThreadFigures old = sum_of(before, name_begin);
    ThreadFigures sum = sum_of(now, name_begin);
    sum.cpu_ns -= old.cpu_ns;
    sum.wake_ups -= old.wake_ups;
    sum.cut_offs -= old.cut_offs;
    return sum;
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view name) {
    const std::string key = std::string(name) + ":";
    for (std::size_t line = 0; line < text.size();) {
        const std::string_view rest = text.substr(line);
        if (rest.starts_with(key)) {
            const std::size_t digits = rest.find_first_not_of(" \t", key.size());
            std::uint64_t number = 0;
            if (digits != std::string_view::npos &&
                std::from_chars(rest.data() + digits, rest.data() + rest.size(), number).ec == std::errc()) {
                return number;
            }
            return std::nullopt;
        }
        const std::size_t end = rest.find('\n');
        line = end == std::string_view::npos ? text.size() : line + end + 1;
    }
    return std::nullopt;
}

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace telegate::perf
