#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string_view>

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
/// Threads: one. Limits: none. Failure: next() and check() throw Interrupted.
class Steps {
  public:
    struct Output {
        std::ostream& out;
        bool is_terminal = false;
    };

    /// `on_tables(count)` is called when this many groups of rows are complete.
    Steps(std::size_t runs, Output output, std::function<void(std::size_t)> on_tables = {});
    ~Steps();
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;

    /// Returns how often everything is measured.
    [[nodiscard]] std::size_t runs() const noexcept { return runs_; }
    /// Sets the number of steps; 0 if it is unknown.
    void expect(std::size_t steps) noexcept { expected_ = steps; }
    /// Begins the next step.
    void next(std::string_view what);
    /// Throws Interrupted at SIGINT or SIGTERM. For use within long steps.
    void check();
    void tables(std::size_t complete);
    /// Clears the line on a terminal, before other output.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;

    const std::size_t runs_;
    const Output output_;
    const std::function<void(std::size_t)> on_tables_;
    const Clock::time_point begin_ = Clock::now();
    std::size_t expected_ = 0;
    std::size_t begun_ = 0;
    bool has_line_ = false;
};

}  // namespace telegate::perf
