#pragma once

#include "core/clock.hpp"
#include "core/unique_fd.hpp"
#include "device/cancel_signal.hpp"
#include "exec/exec_driver.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace telegate::exec {

/// Returns the variables that every command inherits from the gateway if they are set: PATH, HOME and the like, but
/// none that may be a secret or belongs to the service manager.
[[nodiscard]] std::vector<std::string> inherited_environment();

/// A process in its own process group, with pipes from stdout and stderr. Its stdin is /dev/null.
///
/// Threads: one; start() must run on a thread that lives as long as the process (PR_SET_PDEATHSIG). The destructor runs
/// on any thread.
/// Limits: four descriptors. SIGKILL follows end_patience after SIGTERM, and has as long to take effect.
/// Failure: start() returns an error text. finish_end() reports a process that the kernel cannot kill because it waits
/// for hardware; the destructor leaves it, and it is a zombie until the gateway ends.
class ChildProcess {
  public:
    static constexpr Duration end_patience = std::chrono::milliseconds(500);
    static constexpr Duration canceled_patience = std::chrono::milliseconds(20);

    /// `arguments` are the program, as a path or a name to look up in PATH, and its arguments. `options`, which must
    /// outlive the process, has its directory, additional environment and limits.
    ChildProcess(const ExecDriverOptions& options, std::vector<std::string> arguments);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Starts the process. Returns an error text, or "". Requires that no process exists.
    [[nodiscard]] std::string start();
    /// Return why the program or its working directory is not available now; "" if it is.
    [[nodiscard]] std::string program_fault() const;
    [[nodiscard]] std::string directory_fault() const;
    /// Returns whether a process exists that has not been collected.
    [[nodiscard]] bool exists() const noexcept { return pid_ > 0; }
    [[nodiscard]] bool is_ending() const noexcept { return is_ending_; }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    /// Non-blocking descriptors of stdout and stderr; -1 when closed.
    [[nodiscard]] int output() const noexcept { return output_.get(); }
    [[nodiscard]] int errors() const noexcept { return errors_.get(); }
    /// Returns a descriptor that is readable after the process has ended.
    [[nodiscard]] int ended() const noexcept { return pidfd_.get(); }
    void close_output() noexcept { output_ = {}; }
    void close_errors() noexcept { errors_ = {}; }

    /// Reaps a process that has ended, and kills the rest of its group. Returns "" for status 0, otherwise "exited
    /// with status 3" or "killed by SIGSEGV".
    [[nodiscard]] std::string collect();
    /// Sends SIGTERM and closes the outputs.
    void begin_end() noexcept;
    /// Waits until the process has ended, sending SIGKILL if necessary. Once `cancel` (which may be null) is set, waits
    /// for at most canceled_patience. Returns false if the process was killed and has not ended yet.
    [[nodiscard]] bool finish_end(const CancelSignal* cancel) noexcept;

  private:
    [[nodiscard]] std::string find_program() const;
    [[nodiscard]] std::string launch_with(const std::string& path, int output, int errors);
    void signal_group(int number) const noexcept;

    const ExecDriverOptions& options_;
    std::vector<std::string> arguments_;
    std::vector<std::string> environment_;
    const std::vector<char*> argument_pointers_;     // terminated by a null pointer
    const std::vector<char*> environment_pointers_;  // terminated by a null pointer
    pid_t pid_ = -1;
    UniqueFd pidfd_;
    UniqueFd output_;
    UniqueFd errors_;
    bool is_ending_ = false;
    bool is_killed_ = false;
    MonoTime kill_at_{};
};

}  // namespace telegate::exec
