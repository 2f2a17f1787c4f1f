#pragma once

#include "exec/command_run.hpp"
#include "exec/exec_driver.hpp"
#include "random.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::exec {

/// Runs the command once in each read(), or keeps it running; see make_exec_driver().
class CommandDriver final : public Driver {
  public:
    explicit CommandDriver(ExecDriverOptions options) : command_(std::move(options)) {}

    [[nodiscard]] DriverTraits traits() const noexcept override { return {.own_thread = true, .streams = streams()}; }
    void cancel_with(const CancelSignal& signal) noexcept override { command_.cancel_with(signal); }
    void open(SampleBatch& batch) override { command_.open(batch); }
    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override {
        return command_.later_channels();
    }
    [[nodiscard]] std::vector<MissingPart> missing_parts() const override { return command_.missing_parts(); }
    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override;
    /// Ends a command that is kept running; the next read restarts it.
    void reset() noexcept override;

    /// Returns the process id; -1: none.
    [[nodiscard]] int pid() noexcept { return command_.child().pid(); }

  private:
    [[nodiscard]] bool streams() const noexcept {
        return command_.options().mode == ExecDriverOptions::Mode::continuous;
    }
    ReadResult read_or_throw(SampleBatch& batch);
    [[nodiscard]] ReadResult end_early(std::string_view why);

    // once
    [[nodiscard]] ReadResult run_once(SampleBatch& batch);
    [[nodiscard]] ReadResult await_end(SampleBatch& batch);
    [[nodiscard]] ReadResult check_end();
    [[nodiscard]] std::string too_much() const;

    // continuous
    [[nodiscard]] ReadResult read_on(SampleBatch& batch);
    [[nodiscard]] ReadResult begin(SampleBatch& batch);
    [[nodiscard]] ReadResult listen(SampleBatch& batch);
    [[nodiscard]] ReadResult await_end_after_output(SampleBatch& batch);
    [[nodiscard]] ReadResult report_end(SampleBatch& batch);
    /// Returns when the command will have been silent for too long.
    [[nodiscard]] MonoTime silent_at() const noexcept;
    void schedule_restart() noexcept;

    CommandRun command_;

    // continuous
    RandomStream random_{static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()), 0};
    MonoTime started_at_{};
    MonoTime restart_at_{};
    Duration wait_{0};        // the last restart wait, without jitter; 0: none yet
    MonoTime listened_at_{};  // end of the last read
    MonoTime heard_at_{};     // time of the last valid line, or of the start
};

}  // namespace telegate::exec
