#include "replay/replay_driver.hpp"
#include "device/option_error.hpp"

#include "device/cancel_signal.hpp"
#include "replay/logged_samples.hpp"
#include "replay/replay_clock.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {
namespace {

using replay::LoggedSamples;

/// Then the sampler hands over the samples and checks for commands. A burst of some 250 KiB.
constexpr std::size_t samples_per_read_max = 4'096;

void validate(const ReplayOptions& options) {
    if (options.path.empty()) {
        throw OptionError("path", "missing; must be the directory of a log");
    }
}

class ReplayDriver final : public Driver {
  public:
    explicit ReplayDriver(ReplayOptions options)
        : options_(std::move(options)),
          nothing_of_source_(options_.path + ": no samples of the device \"" + options_.source + '"'),
          samples_(options_.path, options_.source),
          clock_(options_.speed) {
        validate(options_);
    }

    [[nodiscard]] DriverTraits traits() const noexcept override {
        return {.own_thread = true, .streams = options_.mode == ReplayMode::timed, .waits_for_room = true};
    }
    void cancel_with(const CancelSignal& signal) noexcept override { cancel_ = &signal; }
    void open(SampleBatch& /*batch*/) override {}
    [[nodiscard]] std::vector<MissingPart> missing_parts() const override {
        std::string fault = replay::log_fault(options_.path);
        return fault.empty() ? std::vector<MissingPart>() : std::vector<MissingPart>{{"path", std::move(fault)}};
    }

    ReadResult read(SampleBatch& batch, MonoTime /*now*/) noexcept override {
        read_until_ = batch.clock().mono_now() + wait_max;
        given_ = 0;
        if (retry_at_ && !wait_until(*std::exchange(retry_at_, {}))) {
            return {ReadResult::Status::interrupted};
        }
        return options_.mode == ReplayMode::timed ? play(batch) : step(batch);
    }

    void reset() noexcept override {
        samples_.rewind();
        clock_.reset();
        retry_at_.reset();
        has_sample_ = false;
        pass_has_samples_ = false;
        moment_ = {};
    }

  private:
    /// Samples with the same time.
    struct Moment {
        std::int64_t time_mono_ns = 0;
        std::uint64_t run = 0;
        bool operator==(const Moment&) const = default;
    };

    /// Plays all samples that are due, or those that become due within wait_max.
    ReadResult play(SampleBatch& batch) {
        while (given_ < samples_per_read_max) {
            if (const auto result = fetch(batch)) {
                return *result;
            }
            const MonoTime due = clock_.due(samples_.sample().time_mono_ns, samples_.runs(), batch.clock());
            if (due > batch.clock().mono_now()) {
                if (given_ > 0) {
                    return {};  // hand over the samples so far
                }
                if (!wait_until(std::min(due, read_until_))) {
                    return {ReadResult::Status::interrupted};
                }
                if (due > batch.clock().mono_now()) {
                    return {};
                }
            }
            add_samples(batch);
        }
        return {};
    }

    /// Plays one moment.
    ReadResult step(SampleBatch& batch) {
        while (given_ < samples_per_read_max) {
            if (const auto result = fetch(batch)) {
                return *result;
            }
            if (given_ > 0 && moment_of_sample() != moment_) {
                return {};
            }
            add_samples(batch);
        }
        return {};
    }

    /// Fetches the next sample. Returns a result if read() must return.
    std::optional<ReadResult> fetch(SampleBatch& batch) {
        while (!has_sample_) {
            switch (samples_.next(batch)) {
                case LoggedSamples::Step::sample: has_sample_ = true; break;
                case LoggedSamples::Step::damaged: return fault();
                case LoggedSamples::Step::failed: return fail_until_later(samples_.fault());
                case LoggedSamples::Step::end:
                    if (!pass_has_samples_ && !options_.source.empty()) {
                        return fail_until_later(nothing_of_source_);
                    }
                    if (!options_.loop || !std::exchange(pass_has_samples_, false)) {
                        return at_end();
                    }
                    samples_.rewind();
                    clock_.begin_again();
                    [[fallthrough]];
                case LoggedSamples::Step::nothing:
                    if (cancel_ != nullptr && cancel_->is_set()) {
                        return ReadResult{ReadResult::Status::interrupted};
                    }
                    if (batch.clock().mono_now() > read_until_) {
                        return ReadResult{};
                    }
                    break;
            }
        }
        return std::nullopt;
    }

    /// A timed device is read again immediately, so the next read waits.
    ReadResult fail_until_later(std::string_view what) noexcept {
        retry_at_ = options_.mode == ReplayMode::timed ? std::optional(read_until_) : std::nullopt;
        return {ReadResult::Status::failed, what};
    }

    [[nodiscard]] ReadResult fault() const noexcept { return {ReadResult::Status::failed, samples_.fault()}; }

    ReadResult at_end() {
        const bool is_canceled = traits().streams && given_ == 0 && !wait_until(read_until_);
        return {is_canceled ? ReadResult::Status::interrupted : ReadResult::Status::ok};
    }

    void add_samples(SampleBatch& batch) {
        const TelemetrySample& sample = samples_.sample();
        const Moment moment = moment_of_sample();
        if (options_.time == ReplayTime::recorded) {
            const std::int64_t now_ns = batch.clock().mono_now().time_since_epoch().count();
            batch.stamp_given({sample.time_utc_ns, sample.time_mono_ns}, now_ns);
        } else if (moment != moment_ && options_.mode == ReplayMode::timed) {
            batch.stamp_now();
        }
        moment_ = moment;
        batch.add_copy(samples_.channel(), sample);
        has_sample_ = false;
        pass_has_samples_ = true;
        ++given_;
    }

    [[nodiscard]] Moment moment_of_sample() const noexcept { return {samples_.sample().time_mono_ns, samples_.runs()}; }

    /// Returns false if the read was canceled.
    [[nodiscard]] bool wait_until(MonoTime when) const noexcept {
        return wait_for(-1, 0, cancel_, when).woken != Woken::canceled;
    }

    const ReplayOptions options_;
    const std::string nothing_of_source_;
    const CancelSignal* cancel_ = nullptr;
    LoggedSamples samples_;
    replay::ReplayClock clock_;
    MonoTime read_until_{};
    std::size_t given_ = 0;             // samples added by the current read
    std::optional<MonoTime> retry_at_;  // set after the log could not be read
    bool has_sample_ = false;           // the next sample has been fetched
    bool pass_has_samples_ = false;     // false: do not repeat a log without samples
    Moment moment_;                     // of the last sample
};

}  // namespace

std::unique_ptr<Driver> make_replay_driver(ReplayOptions options) {
    return std::make_unique<ReplayDriver>(std::move(options));
}

}  // namespace telegate
