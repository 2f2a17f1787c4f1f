#include "gateway_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <regex>
#include <stdexcept>
#include <system_error>

namespace telegate::perf {

namespace {

constexpr std::chrono::seconds answer_time{10};
constexpr const char* running = " running rest=";
constexpr int exec_failed = 127;

/// The texts as an array that ends with nullptr. They must outlive it.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
    std::vector<std::string> environment = more;
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
        environment.emplace_back(*entry);
    }
    return environment;
}

}  // namespace

std::string gateway_beside() {
    const auto build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
    return (build / "gateway" / "gateway_app").string();
}

GatewayProcess::GatewayProcess(const Setup& setup) {
    spawn(setup);
    if (!read_line_with(running)) {
        end(SIGKILL);
        throw std::runtime_error(setup.program +
                                 " does not say that it runs: " + (log_.empty() ? "it says nothing" : log_));
    }
    const std::size_t at = log_.find(running);
    running_line_ = log_.substr(at, log_.find('\n', at) - at);
}

GatewayProcess::~GatewayProcess() {
    end(SIGKILL);
}

void GatewayProcess::spawn(const Setup& setup) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    log_end_ = UniqueFd(ends[0]);
    const UniqueFd write_end(ends[1]);
    // Made before fork(), since a child may not allocate.
    std::vector<std::string> arguments{setup.program, "--config", setup.config, "--log-level", "info"};
    std::vector<std::string> environment = environment_with(setup.environment);
    const std::vector<char*> argument_list = pointers_to(arguments);
    const std::vector<char*> environment_list = pointers_to(environment);
    sigset_t no_signals;
    ::sigemptyset(&no_signals);
    id_ = ::fork();
    if (id_ < 0) {
        throw std::system_error(errno, std::generic_category(), "fork");
    }
    if (id_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::pthread_sigmask(SIG_SETMASK, &no_signals, nullptr);
        ::dup2(write_end.get(), STDERR_FILENO);
        ::execve(setup.program.c_str(), argument_list.data(), environment_list.data());
        ::_exit(exec_failed);
    }
}

bool GatewayProcess::read_line_with(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + answer_time;
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

std::string GatewayProcess::rest_address() const {
    std::smatch found;
    std::regex_search(running_line_, found, std::regex("rest=http://(\\S+)"));
    return found[1];
}

std::vector<std::string> GatewayProcess::endpoints() const {
    static const std::regex endpoint("publish=(\\S+)");
    std::vector<std::string> all;
    for (std::sregex_iterator next(running_line_.begin(), running_line_.end(), endpoint), end; next != end; ++next) {
        all.push_back((*next)[1]);
    }
    return all;
}

std::string GatewayProcess::stop() {
    ::kill(id_, SIGTERM);
    if (!read_line_with(" stopped messages=")) {
        end(SIGKILL);
        throw std::runtime_error("the gateway did not stop in order: " + log_);
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

}  // namespace telegate::perf
