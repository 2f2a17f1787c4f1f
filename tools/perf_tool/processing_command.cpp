#include "command.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "device/processing.hpp"
#include "device/sample_batch.hpp"
#include "system.hpp"

#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

namespace telegate::perf {

namespace {

constexpr std::size_t channel_count = 64;
constexpr std::size_t values_max = 4'096;  // a power of two; the values stay in the cache
constexpr std::int64_t tick_ns = 10'000'000;
constexpr double step = 2.0;  // the difference between two values, if there is one
constexpr double ns_per_sample_max = 30.0;
constexpr const char* goal_name = "scale, range, deadband";

/// Returns values of which a random half equal the previous one.
std::vector<double> make_values() {
    std::mt19937_64 random(1);
    std::vector<double> values;
    double value = 0.0;
    for (std::size_t index = 0; index < values_max; ++index) {
        if (random() % 2 == 0) {
            value += value > 0.0 ? -step : step;
        }
        values.push_back(value);
    }
    return values;
}

/// Channels of a device with the same processing: what read() of a driver does with its readings. Nothing is queued.
///
/// Threads: one. Limits: those of the batch. Failure: run() throws std::runtime_error if samples are missing.
class ProcessingEngine {
  public:
    ProcessingEngine(std::string name, const ChannelProcessing& how) : name_(std::move(name)) {
        ProcessingPlan plan;
        for (std::size_t index = 0; index < channel_count; ++index) {
            plan.channels["channel" + std::to_string(index)] = how;
        }
        batch_.process_with(how.has_stages() ? plan : ProcessingPlan{}, {[this](const FilteredSamples& filtered) {
                                filtered_ =
                                    std::accumulate(filtered.by_reason.begin(), filtered.by_reason.end(), filtered_);
                            }});
        for (std::size_t index = 0; index < channel_count; ++index) {
            ids_.push_back(batch_.add_channel("channel" + std::to_string(index), "Cel"));
        }
    }

    /// Processes `samples`, rounded up to whole ticks. Returns their number.
    std::uint64_t run(std::uint64_t samples) {
        const std::uint64_t ticks = (samples + channel_count - 1) / channel_count;
        for (std::uint64_t tick = 0; tick < ticks; ++tick) {
            time_ns_ += tick_ns;
            batch_.begin(time_ns_, time_ns_);
            for (std::size_t index = 0; index < channel_count; ++index) {
                batch_.add(ids_[index], values_[(next_ + index * channel_count) % values_max]);
            }
            ++next_;
            batch_.flush();
        }
        given_ += ticks * channel_count;
        const bool makes_others = table_.size() > channel_count;  // samples of derived channels are additional
        if (makes_others ? sent_ + filtered_ <= given_ : sent_ + filtered_ != given_) {
            throw std::runtime_error(name_ + ": of " + std::to_string(given_) + " samples " + std::to_string(sent_) +
                                     " were sent and " + std::to_string(filtered_) + " filtered");
        }
        return ticks * channel_count;
    }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] std::uint64_t percent_filtered() const noexcept { return given_ == 0 ? 0 : filtered_ * 100 / given_; }

  private:
    const std::string name_;
    const std::vector<double> values_ = make_values();
    const SystemClock clock_;
    ChannelTable table_;
    std::uint64_t sent_ = 0;
    std::uint64_t filtered_ = 0;
    std::uint64_t given_ = 0;
    std::size_t next_ = 0;
    std::int64_t time_ns_ = 0;
    SampleBatch batch_{clock_, table_, {DeviceId{0}, "device"}, [this](std::span<const TelemetrySample> samples) {
                           sent_ += samples.size();
                       }};
    std::vector<SampleBatch::Channel> ids_;
};

/// Each engine adds stages to those of the previous one.
std::vector<std::unique_ptr<ProcessingEngine>> make_engines() {
    std::vector<std::unique_ptr<ProcessingEngine>> engines;
    ChannelProcessing how;
    const auto add = [&](const char* name) {
        engines.push_back(std::make_unique<ProcessingEngine>(name, how));
    };
    add("none");
    how.scale = 0.5;
    how.offset = 1.0;
    add("scale");
    how.valid_min = -step;
    how.valid_max = step;
    add("scale, range");
    how.deadband = step / 4;
    add(goal_name);
    how.send_interval_max = std::chrono::seconds(1);
    how.send_interval_min = std::chrono::nanoseconds(tick_ns);
    how.derive = Derive::rate;
    how.window = std::chrono::seconds(1);
    how.aggregates = {Aggregate::min, Aggregate::max, Aggregate::mean, Aggregate::last, Aggregate::count};
    how.window_raw = true;
    how.alarm_high = step;
    how.alarm_hysteresis = step / 4;
    how.alarm_delay = std::chrono::nanoseconds(2 * tick_ns);
    add("all stages");
    return engines;
}

double nanoseconds_per_sample(ProcessingEngine& engine, std::uint64_t samples) {
    const double begin_ns = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID);
    const std::uint64_t given = engine.run(samples);
    return (cpu_ns_of(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / static_cast<double>(given);
}

Report measure_processing(std::uint64_t samples, std::size_t runs) {
    const std::vector<std::unique_ptr<ProcessingEngine>> engines = make_engines();
    Report report{"processing", "CPU ns per sample"};
    for (const auto& engine : engines) {
        (void)engine->run(std::min<std::uint64_t>(samples, channel_count * values_max));  // warm-up
    }
    for (std::size_t run = 0; run < runs; ++run) {
        for (const auto& engine : engines) {
            const Goal goal = engine->name() == goal_name ? Goal::at_most(ns_per_sample_max) : Goal{};
            report.add(engine->name(), nanoseconds_per_sample(*engine, samples), goal);
        }
    }
    for (const auto& engine : engines) {
        report.parameters.emplace_back("filtered",
                                       engine->name() + ": " + std::to_string(engine->percent_filtered()) + " %");
    }
    return report;
}

}  // namespace

Command::Action describe_processing_command(CLI::App& options) {
    const auto samples = std::make_shared<std::uint64_t>(5'000'000);
    options.add_option("--samples", *samples, "Samples per engine and run")->check(CLI::Range(1, 1'000'000'000));
    return [samples](std::size_t runs) {
        return measure_processing(*samples, runs);
    };
}

}  // namespace telegate::perf
