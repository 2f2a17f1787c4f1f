#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Measures engines in turn, with progress and interrupts.
namespace telegate::perf {

/// The user has ended the measurement.
struct Interrupted final : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted: the results are incomplete") {}
};

/// Blocks SIGINT and SIGTERM in this thread and in those that it starts, so that a measurement ends between two steps,
/// and directories and processes are removed.
void block_interrupts();
/// Returns whether one is pending.
[[nodiscard]] bool is_interrupted();
/// Waits. Throws Interrupted at SIGINT or SIGTERM, if they are blocked.
void wait_seconds(double seconds);

/// The steps of a measurement, which it reports with the time left: on a terminal in one line that it rewrites,
/// otherwise in a line per step.
/// Threads: one. Limits: none. Failure: next() throws Interrupted.
class Steps {
  public:
    Steps(std::ostream& out, bool is_terminal, std::size_t expected)
        : out_(out), is_terminal_(is_terminal), expected_(expected) {}
    ~Steps() { clear(); }
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;

    /// Begins the next step.
    void next(std::string_view what);
    /// Clears the line on a terminal, before other output.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;

    std::ostream& out_;
    const bool is_terminal_;
    const std::size_t expected_;
    const Clock::time_point begin_ = Clock::now();
    std::size_t begun_ = 0;
    bool has_line_ = false;
};

/// A way to do the work of a group. `run` measures it once and adds the figures to the report. It throws
/// std::runtime_error if a result is wrong.
struct Engine {
    std::string name;
    std::function<void()> run;
};

/// Engines that take turns within each run, so noise affects all alike, and have tables of their own.
struct Group {
    std::string title;
    std::vector<Engine> engines{};
    std::function<void()> finish{};  // adds ratios; some engines may have fewer runs, or none, after an interrupt
    bool is_run_once = false;
};
using Plan = std::vector<Group>;

[[nodiscard]] std::size_t steps_in(const Plan& plan, std::size_t runs);

/// Measures one group after the other. Calls `print` when the tables of a group are complete, or an exception ends the
/// measurement. Throws Interrupted, and std::runtime_error with the names of the engine and the group if a result is
/// wrong.
void measure(const Plan& plan, std::size_t runs, Steps& steps, const std::function<void()>& print);

}  // namespace telegate::perf
