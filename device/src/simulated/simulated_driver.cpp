#include "simulated/simulated_driver.hpp"

#include "random.hpp"
#include "simulated/waveform_generator.hpp"

#include <optional>
#include <string>
#include <utility>

namespace telegate {
namespace {

constexpr std::uint64_t fault_stream = 1'000;  // not used by the waveforms

/// A fault with a duration: it begins at a random time and ends by itself.
class LastingFault {
  public:
    /// Returns whether the fault is active at `now`. A new occurrence while it is active does not extend it.
    bool is_on(bool strikes, MonoTime now, Duration lasts) noexcept {
        if (ends_ && now < *ends_) {
            return true;
        }
        ends_.reset();
        if (strikes) {
            ends_ = now + lasts;
        }
        return strikes;
    }

  private:
    std::optional<MonoTime> ends_;
};

class SimulatedDriver final : public Driver {
  public:
    explicit SimulatedDriver(SimulatedDriverOptions options) : options_(std::move(options)) {
        for (std::uint32_t copy = 1; copy <= options_.copies; ++copy) {
            for (const Waveform waveform : options_.waveforms) {
                lines_.push_back({waveform, copy, generator_of(waveform, copy)});
            }
        }
    }

    void open(SampleBatch& batch) override {
        for (Line& line : lines_) {
            const bool counts = line.waveform == Waveform::counter;
            const std::string name(to_string(line.waveform));
            line.channel =
                batch.add_channel(line.copy == 1 ? name : name + '_' + std::to_string(line.copy), counts ? "1" : "");
        }
    }

    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override {
        return std::vector<std::string>();
    }

    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override {
        if (!run_.first_read) {
            run_.first_read = now;
        }
        // All four are drawn in every tick, so one fault does not affect the random numbers of the others.
        const bool hang = draw(options_.hang_probability);
        const bool error = draw(options_.error_probability);
        const bool stuck = draw(options_.stuck_probability);
        const bool burst = draw(options_.burst_probability);
        if (run_.hang.is_on(hang, now, options_.hang_time)) {
            return {ReadResult::Status::failed, "no response"};
        }
        if (error) {
            return {ReadResult::Status::failed, "read error"};
        }
        if (run_.stuck.is_on(stuck, now, options_.stuck_time)) {
            repeat_last(batch, now);
            return {};
        }
        for (std::uint32_t sample = 0; sample < (burst ? options_.burst_samples : 1); ++sample) {
            advance(now);
            add_samples(batch, Quality::good);
        }
        return {};
    }

    void reset() noexcept override {
        run_ = Run(options_.seed);
        for (Line& line : lines_) {
            line.generator = generator_of(line.waveform, line.copy);
        }
    }

  private:
    struct Line {
        Waveform waveform;
        std::uint32_t copy;  // from 1
        WaveformGenerator generator;
        WaveformGenerator::Value last{};
        SampleBatch::Channel channel = SampleBatch::Channel::none;
    };

    /// The state that a reset clears.
    struct Run {
        explicit Run(std::uint64_t seed) noexcept : faults(seed, fault_stream) {}

        RandomStream faults;
        LastingFault hang;
        LastingFault stuck;
        std::optional<MonoTime> first_read;
        bool has_values = false;
    };

    /// Copies differ only in their random numbers; the first uses the configured seed.
    [[nodiscard]] WaveformGenerator generator_of(Waveform waveform, std::uint32_t copy) const noexcept {
        constexpr std::uint64_t apart = 1'000'003;
        return {waveform, options_, options_.seed + apart * (copy - 1)};
    }

    bool draw(double probability) noexcept { return run_.faults.next_unit() < probability; }

    void advance(MonoTime now) noexcept {
        for (Line& line : lines_) {
            line.last = line.generator.next(now - *run_.first_read);
        }
        run_.has_values = true;
    }

    /// A device that is stuck since its first read repeats the values of that read.
    void repeat_last(SampleBatch& batch, MonoTime now) {
        if (!run_.has_values) {
            advance(now);
        }
        add_samples(batch, Quality::uncertain);
    }

    void add_samples(SampleBatch& batch, Quality quality) const {
        for (const Line& line : lines_) {
            if (line.last.is_integer) {
                batch.add(line.channel, line.last.integer, quality);
            } else {
                batch.add(line.channel, line.last.real, quality);
            }
        }
    }

    const SimulatedDriverOptions options_;
    std::vector<Line> lines_;
    Run run_{options_.seed};
};

}  // namespace

std::unique_ptr<Driver> make_simulated_driver(SimulatedDriverOptions options) {
    return std::make_unique<SimulatedDriver>(std::move(options));
}

}  // namespace telegate
