#include "clock/clock_driver.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace {

/// Threads: those of Driver. A read waits for a concurrent clock reading to finish, which takes microseconds.
/// Limits: never allocates after open().
/// Failure: none.
class ClockDriver final : public Driver {
  public:
    explicit ClockDriver(std::shared_ptr<ClockWatch> watch) : watch_(std::move(watch)) {}

    void open(SampleBatch& batch) override {
        state_ = batch.add_channel("clock", "");
        error_ = batch.add_channel("clock.error", "s");
        error_max_ = batch.add_channel("clock.error_max", "s");
        offset_ = batch.add_channel("clock.offset", "ns");
        step_ = batch.add_channel("clock.step", "s");
        steps_ = batch.add_channel("clock.steps", "1");
        reported_ = watch_->status();
    }

    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override {
        return std::vector<std::string>();
    }

    ReadResult read(SampleBatch& batch, MonoTime /*now*/) noexcept override {
        const ClockStatus status = watch_->read();
        const bool is_known = status.reading.sync != ClockSync::unknown;
        batch.add(state_, to_string(status.reading.sync), is_known ? Quality::good : Quality::uncertain);
        if (is_known) {
            batch.add(error_, status.reading.error_estimated_s);
            batch.add(error_max_, status.reading.error_maximum_s);
        } else {
            batch.add_absent(error_);
            batch.add_absent(error_max_);
        }
        batch.add(offset_, status.offset_ns);
        if (status.steps != reported_.steps) {
            batch.add(step_, status.stepped_s - reported_.stepped_s);
            reported_ = status;
        }
        batch.add(steps_, static_cast<std::int64_t>(status.steps));
        return {};
    }

    void reset() noexcept override {}

  private:
    const std::shared_ptr<ClockWatch> watch_;
    ClockStatus reported_;  // the last reported steps
    SampleBatch::Channel state_ = SampleBatch::Channel::none;
    SampleBatch::Channel error_ = SampleBatch::Channel::none;
    SampleBatch::Channel error_max_ = SampleBatch::Channel::none;
    SampleBatch::Channel offset_ = SampleBatch::Channel::none;
    SampleBatch::Channel step_ = SampleBatch::Channel::none;
    SampleBatch::Channel steps_ = SampleBatch::Channel::none;
};

}  // namespace

std::unique_ptr<Driver> make_clock_driver(std::shared_ptr<ClockWatch> watch) {
    return std::make_unique<ClockDriver>(std::move(watch));
}

}  // namespace telegate
