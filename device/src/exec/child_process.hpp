#pragma once

#include "core/clock.hpp"
#include "device/cancel_signal.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace telegate::exec {

struct ChildOptions {
    std::vector<std::string> arguments;  // the first is the program: a path, or a name that is looked up in PATH
    std::string directory = "/";
    std::vector<std::string> environment;  // NAME=VALUE, instead of or beside what inherited_environment() gives
    std::size_t memory_max_bytes = 0;      // 0: no limit
    std::uint32_t cpu_seconds_max = 0;     // 0: no limit
};

/// Variables that every command has from the gateway, where it has them: PATH, HOME and the like, and nothing that may
/// be a secret of the gateway or belongs to its service manager.
[[nodiscard]] std::vector<std::string> inherited_environment();

/// A process in a group of its own, and pipes from its two outputs. Its standard input is /dev/null.
///
/// Threads: one; start() on one that lives as long as the process is to (PR_SET_PDEATHSIG). The destructor on any.
/// Limits:  four descriptors. end_patience after SIGTERM comes SIGKILL, and once more so long for it to work.
/// Failure: start() answers with what went wrong. A process that the kernel cannot kill, since it waits for hardware,
///          is told by finish_end(); the destructor leaves it, and it is a zombie until the gateway ends.
class ChildProcess {
  public:
    static constexpr Duration end_patience = std::chrono::milliseconds(500);
    static constexpr Duration cancelled_patience = std::chrono::milliseconds(20);

    explicit ChildProcess(ChildOptions options);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Returns what went wrong, "" for nothing. Only while there is no process.
    [[nodiscard]] std::string start();
    /// Returns why the program, or the folder to run it in, is not to be had now; "" when both are.
    [[nodiscard]] std::string program_fault() const;
    [[nodiscard]] std::string directory_fault() const;
    /// Whether there is a process that was not collected yet.
    [[nodiscard]] bool exists() const noexcept { return pid_ > 0; }
    [[nodiscard]] bool is_ending() const noexcept { return is_ending_; }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    /// Both give bytes without waiting for them; -1 when they were closed.
    [[nodiscard]] int output() const noexcept { return output_; }
    [[nodiscard]] int errors() const noexcept { return errors_; }
    /// Readable once it has ended.
    [[nodiscard]] int ended() const noexcept { return pidfd_; }
    void close_output() noexcept;
    void close_errors() noexcept;

    /// It has ended: kills what is left of its group and collects it. "" when it ended well, otherwise
    /// "exited with 3" or "killed by SIGSEGV".
    [[nodiscard]] std::string collect();
    /// Asks it to end, and listens to it no more.
    void begin_end() noexcept;
    /// Waits for the end that has begun. Once `cancel` is set, which may be null, it has cancelled_patience left. False
    /// when it was killed and has not ended yet.
    [[nodiscard]] bool finish_end(const CancelSignal* cancel) noexcept;

  private:
    [[nodiscard]] std::string find_program() const;
    [[nodiscard]] std::string launch_with(const std::string& path, int output, int errors);
    void signal_group(int number) const noexcept;
    void close_all() noexcept;
    [[nodiscard]] bool wait_until(MonoTime deadline, const CancelSignal* cancel) const noexcept;

    ChildOptions options_;
    std::vector<char*> arguments_;    // of options_, ended by a null pointer
    std::vector<char*> environment_;  // as well
    pid_t pid_ = -1;
    int pidfd_ = -1;
    int output_ = -1;
    int errors_ = -1;
    bool is_ending_ = false;
    bool is_killed_ = false;
    MonoTime kill_at_{};
};

}  // namespace telegate::exec
