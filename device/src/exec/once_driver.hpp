#pragma once

#include "exec/command_run.hpp"
#include "exec/exec_driver.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::exec {

/// Runs the command once in each read(); see make_exec_driver().
class OnceDriver final : public Driver {
  public:
    explicit OnceDriver(ExecDriverOptions options) : command_(std::move(options)) {}

    [[nodiscard]] DriverTraits traits() const noexcept override { return {.own_thread = true, .streams = false}; }
    void cancel_with(const CancelSignal& signal) noexcept override { command_.cancel_with(signal); }
    void open(SampleBatch& batch) override { command_.open(batch); }
    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override {
        return command_.later_channels();
    }
    [[nodiscard]] std::vector<MissingPart> missing_parts() const override { return command_.missing_parts(); }
    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override;
    void reset() noexcept override {}

    /// Returns the process id; -1: none.
    [[nodiscard]] int pid() noexcept { return command_.child().pid(); }

  private:
    ReadResult read_or_throw(SampleBatch& batch);
    [[nodiscard]] ReadResult run(SampleBatch& batch);
    [[nodiscard]] ReadResult end_early(std::string_view what);
    [[nodiscard]] ReadResult judge();
    [[nodiscard]] std::string too_much() const;

    CommandRun command_;
};

}  // namespace telegate::exec
