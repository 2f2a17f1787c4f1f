#pragma once

#include "core/unique_fd.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace telegate::perf {

/// gateway_app of the build that this program is of, whether it is there or not.
[[nodiscard]] std::string gateway_beside();

/// gateway_app as a child of this process.
///
/// Threads: one. Limits: its log is read while it starts and when it stops; a pipe's worth fits in between.
/// Failure: throws std::runtime_error, with what the program wrote, when it does not say within ten seconds that it
///          runs, or does not stop within ten. It never outlives this object, nor this process.
class GatewayProcess {
  public:
    struct Setup {
        std::string program;
        std::string config;
        std::vector<std::string> environment;  // "NAME=value", besides this process's own
    };

    /// Starts it, with log level info, and waits until it runs.
    explicit GatewayProcess(const Setup& setup);
    ~GatewayProcess();
    GatewayProcess(const GatewayProcess&) = delete;
    GatewayProcess& operator=(const GatewayProcess&) = delete;

    [[nodiscard]] pid_t id() const noexcept { return id_; }
    /// "127.0.0.1:43567".
    [[nodiscard]] std::string rest_address() const;
    /// "tcp://127.0.0.1:45678" and so on, in the order of the settings.
    [[nodiscard]] std::vector<std::string> endpoints() const;

    /// Stops it in order and returns all that it has logged.
    std::string stop();

  private:
    void spawn(const Setup& setup);
    /// Whether a whole line with the text comes; false when the log has ended or ten seconds have passed.
    bool read_line_with(const std::string& text);
    void end(int signal) noexcept;

    pid_t id_ = -1;
    UniqueFd log_end_;
    std::string log_;
    std::string running_line_;
};

}  // namespace telegate::perf
