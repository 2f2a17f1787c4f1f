#pragma once

#include "core/unique_fd.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace telegate::perf {

/// Returns the path of gateway_app in the build of this program, even if it does not exist.
[[nodiscard]] std::string gateway_beside();

/// gateway_app as a child of this process.
///
/// Threads: one. Limits: its log is read while it starts and while it stops; in between, it must fit into a pipe.
/// Failure: throws std::runtime_error with the log if the program does not exist, is not running within ten seconds or
/// does not stop within ten. It never outlives this object or this process.
class GatewayProcess {
  public:
    struct Setup {
        std::string program;
        std::string config = {};
        std::vector<std::string> settings = {};     // "KEY=VALUE", which override those of the file
        std::vector<std::string> environment = {};  // "NAME=value", in addition to those of this process
    };

    /// Starts it with log level info and waits until it is running.
    explicit GatewayProcess(const Setup& setup);
    ~GatewayProcess();
    GatewayProcess(const GatewayProcess&) = delete;
    GatewayProcess& operator=(const GatewayProcess&) = delete;

    [[nodiscard]] pid_t id() const noexcept { return id_; }
    /// Returns "127.0.0.1:PORT".
    [[nodiscard]] std::string rest_address() const { return in_running_line("rest=http://"); }
    /// Returns its first publish endpoint.
    [[nodiscard]] std::string endpoint() const { return in_running_line("publish="); }

    /// Stops it and returns its log.
    std::string stop();

  private:
    void spawn(const Setup& setup);
    /// Returns the word after `name`.
    [[nodiscard]] std::string in_running_line(const std::string& name) const;
    /// Reads the log up to a line with the text. Returns false at the end of the log and after ten seconds.
    bool read_line_with(const std::string& text);
    void end(int signal) noexcept;

    pid_t id_ = -1;
    UniqueFd log_end_;
    std::string log_;
    std::string running_line_;
};

/// Returns the text of a settings file in which TCP ports are free ports of the loopback interface, and ipc files are
/// in `folder`.
[[nodiscard]] std::string scratch_settings(std::string text, const std::string& folder);

}  // namespace telegate::perf
