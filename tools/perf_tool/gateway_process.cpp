#include "gateway_process.hpp"

#include "system.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <regex>
#include <stdexcept>

namespace telegate::perf {

namespace {

constexpr std::chrono::seconds response_time_max{10};
constexpr const char* running = " running rest=";
constexpr int exec_failed = 127;

}  // namespace

std::string gateway_beside() {
    const auto build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
    return (build / "gateway" / "gateway_app").string();
}

GatewayProcess::GatewayProcess(const Setup& setup) {
    if (!std::filesystem::exists(setup.program)) {
        throw std::runtime_error("missing program " + setup.program + ": build it, or name it with --app");
    }
    spawn(setup);
    if (!read_line_with(running)) {
        end(SIGKILL);
        throw std::runtime_error(setup.program + " is not running: " + (log_.empty() ? "no output" : log_));
    }
    const std::size_t at = log_.find(running);
    running_line_ = log_.substr(at, log_.find('\n', at) - at);
}

GatewayProcess::~GatewayProcess() {
    end(SIGKILL);
}

void GatewayProcess::spawn(const Setup& setup) {
    std::array<int, 2> ends{};
    checked(::pipe2(ends.data(), O_CLOEXEC), "pipe2");
    log_end_ = UniqueFd(ends[0]);
    const UniqueFd write_end(ends[1]);
    // All memory is allocated before fork(). env replaces itself with the program, under the same process ID.
    std::vector<std::string> words{"/usr/bin/env"};
    words.insert(words.end(), setup.environment.begin(), setup.environment.end());
    words.insert(words.end(), {setup.program, "--config", setup.config, "--log-level", "info"});
    for (const std::string& setting : setup.settings) {
        words.insert(words.end(), {"--set", setting});
    }
    std::vector<char*> arguments;
    std::ranges::transform(words, std::back_inserter(arguments), [](std::string& word) { return word.data(); });
    arguments.push_back(nullptr);
    sigset_t no_signals;
    ::sigemptyset(&no_signals);
    id_ = checked(::fork(), "fork");
    if (id_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::pthread_sigmask(SIG_SETMASK, &no_signals, nullptr);
        ::dup2(write_end.get(), STDERR_FILENO);
        ::execv(arguments.front(), arguments.data());
        ::_exit(exec_failed);
    }
}

bool GatewayProcess::read_line_with(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + response_time_max;
    std::array<char, 4'096> part{};
    while (log_.find('\n', log_.find(text)) == std::string::npos) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd waiting{log_end_.get(), POLLIN, 0};
        if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) {
            return false;
        }
        const ssize_t bytes = ::read(log_end_.get(), part.data(), part.size());
        if (bytes <= 0) {
            return false;
        }
        log_.append(part.data(), static_cast<std::size_t>(bytes));
    }
    return true;
}

std::string GatewayProcess::in_running_line(const std::string& name) const {
    const std::size_t begin = running_line_.find(name) + name.size();
    return running_line_.substr(begin, running_line_.find(' ', begin) - begin);
}

std::string GatewayProcess::stop() {
    ::kill(id_, SIGTERM);
    if (!read_line_with(" stopped messages=")) {
        end(SIGKILL);
        throw std::runtime_error("the gateway did not stop: " + log_);
    }
    end(0);
    return log_;
}

void GatewayProcess::end(int signal) noexcept {
    if (id_ > 0) {
        ::kill(id_, signal);
        int status = 0;
        ::waitpid(id_, &status, 0);
        id_ = -1;
    }
}

std::string scratch_settings(std::string text, const std::string& folder) {
    const auto replace = [&text](const std::string& setting, const std::string& value) {
        text = std::regex_replace(text, std::regex("(^|\n)[ \t]*" + setting), "$1" + value);
    };
    replace("listen[ \t]*=[^\n]*", "listen = 127.0.0.1:0");
    replace("endpoint[ \t]*=[ \t]*tcp:[^\n]*", "endpoint = tcp://127.0.0.1:0");
    replace("endpoint[ \t]*=[ \t]*ipc:[^\n]*/", "endpoint = ipc://" + folder + "/");
    return text;
}

}  // namespace telegate::perf
