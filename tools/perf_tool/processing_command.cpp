#include "command.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "device/processing.hpp"
#include "device/sample_batch.hpp"
#include "instruction_counter.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

constexpr std::size_t channel_count = 64;
constexpr std::size_t values_max = 4'096;  // a power of two; what is read stays in the cache
constexpr std::int64_t tick_ns = 10'000'000;
constexpr double step = 2.0;  // of a value that changes, which is every second one at random
constexpr double ns_per_sample_max = 30.0;
constexpr const char* goal_name = "scale, range, deadband";

struct ProcessingOptions {
    std::uint64_t samples = 5'000'000;
};

/// Values of which half are like the one before.
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

/// A device of some channels that are all processed alike: what a driver's read() does with its readings, but for the
/// device. Nothing is queued.
///
/// Threads: one. Limits: the batch's. Failure: run() throws std::runtime_error when samples are missing.
class ProcessingEngine {
  public:
    ProcessingEngine(std::string name, const ChannelProcessing& how) : name_(std::move(name)) {
        ProcessingPlan plan;
        for (std::size_t index = 0; index < channel_count; ++index) {
            plan.channels["channel" + std::to_string(index)] = how;
        }
        batch_.process_with(how.has_stages() ? plan : ProcessingPlan{}, {[this](const FilteredSamples& told) {
                                for (const std::uint64_t count : told.by_reason) {
                                    filtered_ += count;
                                }
                            }});
        for (std::size_t index = 0; index < channel_count; ++index) {
            ids_.push_back(batch_.add_channel("channel" + std::to_string(index), "Cel"));
        }
    }

    /// Gives so many samples, rounded up to whole ticks. Returns how many.
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
        const bool makes_others = table_.size() > channel_count;  // whose samples come on top
        if (makes_others ? sent_ + filtered_ <= given_ : sent_ + filtered_ != given_) {
            throw std::runtime_error(name_ + ": " + std::to_string(given_) + " samples were given, " +
                                     std::to_string(sent_) + " sent and " + std::to_string(filtered_) + " filtered");
        }
        return ticks * channel_count;
    }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] std::uint64_t percent_filtered() const noexcept { return given_ == 0 ? 0 : filtered_ * 100 / given_; }
    std::optional<std::uint64_t> instructions = std::nullopt;  // per sample

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
    SampleBatch batch_{clock_, table_, DeviceId{0}, "device", [this](std::span<const TelemetrySample> samples) {
                           sent_ += samples.size();
                       }};
    std::vector<SampleBatch::Channel> ids_;
};

ChannelProcessing with_scale() {
    ChannelProcessing how;
    how.scale = 0.5;
    how.offset = 1.0;
    return how;
}

ChannelProcessing with_range() {
    ChannelProcessing how = with_scale();
    how.valid_min = -step;
    how.valid_max = step;
    return how;
}

ChannelProcessing with_deadband() {
    ChannelProcessing how = with_range();
    how.deadband = step / 4;
    return how;
}

ChannelProcessing with_all() {
    ChannelProcessing how = with_deadband();
    how.silence_max = std::chrono::seconds(1);
    how.send_interval_min = std::chrono::nanoseconds(tick_ns);
    how.derive = Derive::rate;
    how.window = std::chrono::seconds(1);
    how.aggregates = {Aggregate::min, Aggregate::max, Aggregate::mean, Aggregate::last, Aggregate::count};
    how.window_raw = true;
    how.alarm_high = step;
    how.alarm_hysteresis = step / 4;
    how.alarm_delay = std::chrono::nanoseconds(2 * tick_ns);
    return how;
}

std::vector<std::unique_ptr<ProcessingEngine>> make_engines() {
    std::vector<std::unique_ptr<ProcessingEngine>> engines;
    engines.push_back(std::make_unique<ProcessingEngine>("none", ChannelProcessing{}));
    engines.push_back(std::make_unique<ProcessingEngine>("scale", with_scale()));
    engines.push_back(std::make_unique<ProcessingEngine>("scale, range", with_range()));
    engines.push_back(std::make_unique<ProcessingEngine>(goal_name, with_deadband()));
    engines.push_back(std::make_unique<ProcessingEngine>("all stages", with_all()));
    return engines;
}

/// Of this thread alone, so that other work on the machine does not count.
std::int64_t processor_time_ns() {
    constexpr std::int64_t ns_per_s = 1'000'000'000;
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * ns_per_s + time.tv_nsec;
}

double nanoseconds_per_sample(ProcessingEngine& engine, std::uint64_t samples, InstructionCounter& counter) {
    const std::int64_t begin_ns = processor_time_ns();
    counter.start();
    const std::uint64_t given = engine.run(samples);
    const std::optional<std::uint64_t> instructions = counter.stop();
    const std::int64_t end_ns = processor_time_ns();
    if (instructions) {
        engine.instructions = *instructions / given;
    }
    return static_cast<double>(end_ns - begin_ns) / static_cast<double>(given);
}

Report measure(const ProcessingOptions& options, const CommonOptions& common) {
    const std::vector<std::unique_ptr<ProcessingEngine>> engines = make_engines();
    Report report{"processing", "nanoseconds per sample", {}, {}, {}};
    InstructionCounter counter;
    for (const auto& engine : engines) {
        (void)engine->run(std::min<std::uint64_t>(options.samples, channel_count * values_max));  // to warm up
        const bool has_goal = engine->name() == goal_name;
        report.rows.push_back({engine->name(), {}, has_goal ? Goal::at_most(ns_per_sample_max) : Goal{}});
    }
    for (std::size_t run = 0; run < common.runs; ++run) {
        for (std::size_t index = 0; index < engines.size(); ++index) {
            report.rows[index].values.push_back(nanoseconds_per_sample(*engines[index], options.samples, counter));
        }
    }
    report.parameters = {{"samples", std::to_string(options.samples) + " of " + std::to_string(channel_count) +
                                         " channels; half are like the one before"},
                         {"runs", std::to_string(common.runs) + " after a short one to warm up"},
                         {"time", "of the processor, for this thread"}};
    for (const auto& engine : engines) {
        std::string text = engine->name() + ": " + std::to_string(engine->percent_filtered()) + " %";
        if (engine->instructions) {
            text += ", " + std::to_string(*engine->instructions) + " instructions";
        }
        report.parameters.emplace_back("filtered", std::move(text));
    }
    return report;
}

}  // namespace

Command::Action describe_processing_command(CLI::App& options) {
    const auto chosen = std::make_shared<ProcessingOptions>();
    options.add_option("--samples", chosen->samples, "Samples that each pipeline is given in each run")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
    return [chosen](const CommonOptions& common) {
        return measure(*chosen, common);
    };
}

}  // namespace telegate::perf
