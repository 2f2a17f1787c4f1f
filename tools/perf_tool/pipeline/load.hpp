#pragma once

#include "core/assert.hpp"
#include "core/histogram.hpp"
#include "device/driver.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// A run of the sample path, its samples and their capture times.
namespace telegate::perf {

/// One run of the whole sample path.
struct LineWork {
    std::uint64_t rate = 100'000;  // samples per second
    std::uint64_t samples = 0;     // in total
    std::size_t channels = 10;     // 1 to channels_max, in turn
    std::size_t subscribers = 1;
    std::string format = "json";
    std::size_t queue_size = 65'536;
    std::string policy = "drop_oldest";       // of the queue
    std::string slow_policy = "drop_oldest";  // of the endpoint
    bool has_log = false;                     // whether samples are also written to a durable log

    /// Returns the number of ticks if none is late.
    [[nodiscard]] double ticks() const noexcept {
        return static_cast<double>(samples) / static_cast<double>(rate) * (1e9 / static_cast<double>(tick().count()));
    }
    /// Returns the interval of the ticks: that of the samples, but at least a millisecond.
    [[nodiscard]] std::chrono::nanoseconds tick() const noexcept {
        return std::max(std::chrono::nanoseconds(std::chrono::milliseconds(1)),
                        std::chrono::nanoseconds(std::chrono::seconds(1)) / static_cast<std::int64_t>(rate));
    }
};

/// The capture time of each sample: one entry per tick of the driver, found by the number of the sample, which counts
/// from 0. Thus, delays do not depend on the payload format.
///
/// Threads: add() one; given() any, the times of the first and the last tick once it no longer changes; a Reader
/// belongs to one thread each. Limits: `ticks` entries of 16 bytes.
/// Failure: the constructor may throw std::bad_alloc; add() must not be called if full().
class CaptureTimes {
  public:
    explicit CaptureTimes(std::size_t ticks) : ticks_(ticks) {}

    [[nodiscard]] bool full() const noexcept { return count_.load(std::memory_order_relaxed) == ticks_.size(); }

    /// Adds a tick with the next samples, of which there is at least one.
    void add(std::uint64_t samples, std::int64_t mono_ns) noexcept {
        const std::size_t count = count_.load(std::memory_order_relaxed);
        TELEGATE_ASSERT(count < ticks_.size());
        ticks_[count] = {given_, mono_ns};
        count_.store(count + 1, std::memory_order_release);  // readers see complete entries only
        given_ += samples;
    }

    /// Returns the number of samples.
    [[nodiscard]] std::uint64_t given() const noexcept { return given_; }
    [[nodiscard]] std::int64_t first_mono_ns() const noexcept { return ticks_.front().mono_ns; }
    [[nodiscard]] std::int64_t last_mono_ns() const noexcept {
        return ticks_[std::max<std::size_t>(count_, 1) - 1].mono_ns;
    }

    /// Finds samples that arrive approximately in the order of their numbers.
    class Reader {
      public:
        explicit Reader(const CaptureTimes& times) : times_(times) {}

        /// Returns the tick of a captured sample.
        [[nodiscard]] std::size_t tick_of(std::uint64_t sample) noexcept {
            while (tick_ > 0 && times_.ticks_[tick_].first_sample > sample) {
                --tick_;
            }
            while (tick_ + 1 < known() && times_.ticks_[tick_ + 1].first_sample <= sample) {
                ++tick_;
            }
            return tick_;
        }
        [[nodiscard]] std::int64_t mono_ns(std::size_t tick) const noexcept { return times_.ticks_[tick].mono_ns; }

      private:
        /// Returns the number of readable entries; loads it from the other thread only if necessary.
        [[nodiscard]] std::size_t known() noexcept {
            if (tick_ + 1 >= known_) {
                known_ = times_.count_.load(std::memory_order_acquire);
            }
            return known_;
        }

        const CaptureTimes& times_;
        std::size_t tick_ = 0;
        std::size_t known_ = 0;
    };

  private:
    struct Tick {
        std::uint64_t first_sample = 0;
        std::int64_t mono_ns = 0;
    };

    std::vector<Tick> ticks_;
    std::atomic<std::size_t> count_{0};
    std::atomic<std::uint64_t> given_{0};
};

/// A histogram of the delays of samples, in steps of at most 1/64 of the delay; the maximum is exact.
///
/// Threads: one. Limits: 32 KiB; delays from 2^44 ns (five hours) share the last step. Failure: none.
class DelayCounts {
  public:
    DelayCounts() : counts_(steps) {}

    void add(std::int64_t ns, std::uint64_t samples) noexcept {
        const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
        counts_[std::min(Steps::of(time), steps - 1)] += samples;
        total_ += samples;
        maximum_ns_ = std::max(maximum_ns_, time);
    }

    void add(const DelayCounts& other) noexcept {
        for (std::size_t step = 0; step < steps; ++step) {
            counts_[step] += other.counts_[step];
        }
        total_ += other.total_;
        maximum_ns_ = std::max(maximum_ns_, other.maximum_ns_);
    }

    [[nodiscard]] double maximum_us() const noexcept { return static_cast<double>(maximum_ns_) / 1'000; }

    /// Returns the smallest delay that a share (0 to 1) of the samples does not exceed, rounded up to a step but at
    /// most the maximum; 0 if there are no samples.
    [[nodiscard]] double quantile_us(double share) const noexcept {
        const auto wanted = std::max(1.0, std::ceil(share * static_cast<double>(total_)));
        std::uint64_t seen = 0;
        for (std::size_t step = 0; step < steps && total_ > 0; ++step) {
            seen += counts_[step];
            if (static_cast<double>(seen) >= wanted) {
                return static_cast<double>(std::min(Steps::last_of(step), maximum_ns_)) / 1'000;
            }
        }
        return maximum_us();
    }

  private:
    using Steps = LogSteps<6>;                              // 64 steps per power of two
    static constexpr std::size_t steps = Steps::count(44);  // 2^44 ns

    std::vector<std::uint64_t> counts_;
    std::uint64_t total_ = 0;
    std::uint64_t maximum_ns_ = 0;
};

/// Channels are named c0000 to c9999, so topics have a fixed length.
inline constexpr std::size_t channels_max = 10'000;
inline constexpr const char* load_device = "load";
[[nodiscard]] inline std::string channel_name(std::size_t channel) {
    std::string name = std::to_string(channels_max + channel);
    name.front() = 'c';
    return name;
}

/// A device that produces the samples due at each tick. After a late tick it catches up, with at most twice the usual
/// number of samples per tick. The channels take turns, so sample i is sample i / channels of channel i % channels.
///
/// Threads: as Driver. `times` outlives it. Limits: as many ticks as `times`; then it produces nothing.
/// Failure: none.
class LoadDriver final : public Driver {
  public:
    LoadDriver(const LineWork& work, CaptureTimes& times) : work_(work), times_(times) {
        const double per_tick = static_cast<double>(work.rate) * std::chrono::duration<double>(work.tick()).count();
        per_tick_max_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(2 * per_tick)));
    }

    void open(SampleBatch& batch) override {
        channels_.clear();
        for (std::size_t channel = 0; channel < work_.channels; ++channel) {
            channels_.push_back(batch.add_channel(channel_name(channel), "1"));
        }
    }
    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override {
        const std::uint64_t count = times_.full() ? 0 : due_at(now);
        if (count == 0) {
            return {};
        }
        const std::uint64_t given = times_.given();
        times_.add(count, to_ns(now));
        for (std::uint64_t sample = 0; sample < count; ++sample) {
            // Short numbers with few decimals, as of most sensors.
            batch.add(channels_[next_channel_], static_cast<double>((given + sample) % 1'024) / 8);
            next_channel_ = next_channel_ + 1 == channels_.size() ? 0 : next_channel_ + 1;
        }
        return {};
    }
    void reset() noexcept override {}

  private:
    /// One sample is due at the first tick.
    [[nodiscard]] std::uint64_t due_at(MonoTime now) {
        started_ = started_.value_or(now);
        const double seconds = std::chrono::duration<double>(now - *started_).count();
        const auto total = 1 + static_cast<std::uint64_t>(seconds * static_cast<double>(work_.rate));
        return std::min(std::min(total, work_.samples) - times_.given(), per_tick_max_);
    }

    const LineWork work_;
    std::uint64_t per_tick_max_ = 1;
    CaptureTimes& times_;
    std::optional<MonoTime> started_;
    std::size_t next_channel_ = 0;
    std::vector<SampleBatch::Channel> channels_;
};

}  // namespace telegate::perf
