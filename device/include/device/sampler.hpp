#pragma once

#include "core/bounded_queue.hpp"
#include "core/clock.hpp"
#include "core/histogram.hpp"
#include "core/ledger.hpp"
#include "core/waker.hpp"
#include "device/device_state.hpp"
#include "device/driver.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// How one device is sampled.
struct DeviceOptions {
    /// A thread needs a few microseconds to wake up and to read; below this it would never rest.
    static constexpr Duration interval_min = std::chrono::microseconds(10);
    static constexpr Duration interval_max = std::chrono::hours(1);

    std::string name;                             // a topic part
    Duration interval = std::chrono::seconds(1);  // interval_min to interval_max
    std::uint32_t errors_before_safe = 10;        // failed reads in a row before state safe; 0: never
    bool started = true;                          // false: idle until it is started
};

/// A device as seen from outside; every number is read from the sampler's own counters.
struct DeviceStatus {
    std::string name;
    DeviceState state = DeviceState::idle;
    Duration interval{0};
    std::size_t channels = 0;
    std::uint64_t reads = 0;
    std::uint64_t reads_failed = 0;
    std::uint64_t ticks_missed = 0;
    std::string last_error;  // of the last failed read; "" when there was none since start or reset
    std::chrono::nanoseconds lateness_p50{0};
    std::chrono::nanoseconds lateness_p99{0};
    std::chrono::nanoseconds lateness_max{0};
};

/// What is to become of devices while they are sampled. Those that it does not name stay as they are, to the last
/// deadline.
struct DeviceChange {
    struct NewDriver {
        DeviceOptions options;
        std::unique_ptr<Driver> driver;
    };
    std::vector<NewDriver> set;           // added; or, where there is one of the name, another driver for it
    std::vector<DeviceOptions> adjusted;  // driver and state stay; with another interval a new grid begins
    std::vector<std::string> removed;

    [[nodiscard]] bool empty() const noexcept { return set.empty() && adjusted.empty() && removed.empty(); }
};

enum class DeviceCommand : std::uint8_t { start, stop, reset };

/// Answer to a command: the state after it, and whether it was possible.
struct CommandResult {
    DeviceState state = DeviceState::idle;
    bool possible = true;  // false: the device is in state safe and must be reset first
};

/// Reads every device on absolute deadlines and hands the samples to the queue.
///
/// Interval k of a device is due at start + k * interval on the monotonic clock, so nothing drifts. A tick that could
/// not be served before the next one was due is counted as missed, never made up for.
///
/// A name that a device has had keeps its id, the numbers of its samples and its counts, also when the device is
/// removed and comes back.
///
/// Threads: step(), command(), apply() the sampling thread (see SamplingThread); add() before it starts; prepare() any
///          one; all else any.
/// Limits:  one read per device and step; the queue bounds what is held; names as far as the ledger has room.
/// Failure: a failed read gives samples of quality bad and the device state error, repeated failures state safe.
///          prepare() throws std::length_error when there have been too many names.
class Sampler {
  public:
    /// A patient consumer is told of samples when the last time is so long ago, or when so much of the queue is full.
    static constexpr std::chrono::seconds untold_max{1};
    static constexpr std::size_t untold_share = 8;

    Sampler(const Clock& clock, ChannelTable& channels, BoundedQueue<TelemetrySample>& queue, Ledger& ledger,
            Waker& waker);
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    /// Names get the ids 0, 1, ... in order; `ledger` must have room for them.
    DeviceId add(DeviceOptions options, std::unique_ptr<Driver> driver);

    /// A change made ready: drivers are open, all memory is there.
    struct Prepared;
    /// Names must be there that are adjusted or removed, and none twice. A change that is not applied costs the names
    /// that are new in it, nothing else.
    [[nodiscard]] std::shared_ptr<Prepared> prepare(DeviceChange change);
    /// Once. What it takes out, such as drivers, ends with `prepared`.
    void apply(Prepared& prepared);

    /// Reads each device that is due at `now`, once. Returns when the next one is due; MonoTime::max() if none runs.
    MonoTime step(MonoTime now);

    /// start: idle -> measuring, at a deadline grid that begins now; one that runs keeps its own.
    /// stop: any but safe -> idle. reset: driver reset, errors forgotten, safe -> idle; other states stay as they are.
    /// All are idempotent. start and stop are not possible in state safe. A device that has been removed stays idle.
    CommandResult command(DeviceId device, DeviceCommand command, MonoTime now);

    /// While interrupted, step() reads nothing more than the read in hand. Threads: any.
    void interrupt(bool interrupted) noexcept { interrupted_.store(interrupted, std::memory_order_relaxed); }

    /// Those that there are, by id.
    [[nodiscard]] std::vector<DeviceId> devices() const;
    /// Names that there have been: the ids up to here have books.
    [[nodiscard]] std::size_t names() const noexcept { return names_.load(std::memory_order_acquire); }
    /// nullopt also for one that has been removed.
    [[nodiscard]] std::optional<DeviceId> find(std::string_view name) const noexcept;
    /// Also of one that has been removed.
    [[nodiscard]] DeviceStatus status(DeviceId device) const;
    /// The state alone, which costs next to nothing. Threads: any.
    [[nodiscard]] DeviceState state(DeviceId device) const noexcept;
    /// Whether it waits for room in a queue with policy block. Threads: any.
    [[nodiscard]] bool waits_for_room() const noexcept { return waits_for_room_.load(std::memory_order_relaxed); }

  private:
    struct Device;
    [[nodiscard]] Device& device_named(const std::string& name);
    [[nodiscard]] Device* find_name(std::string_view name) const noexcept;
    void read(Device& device, MonoTime now);
    void hand_over(Device& device, std::span<const TelemetrySample> samples);
    void tell_consumer();

    const Clock& clock_;
    ChannelTable& channels_;
    BoundedQueue<TelemetrySample>& queue_;
    Ledger& ledger_;
    Waker& waker_;
    const std::unique_ptr<std::unique_ptr<Device>[]>
        by_id_;                          // of names that there have been, at most ledger_.devices()
    std::atomic<std::size_t> names_{0};  // released after the entry is complete
    std::vector<Device*> devices_;       // those that there are; the sampling thread's
    std::atomic<bool> interrupted_{false};
    std::atomic<bool> waits_for_room_{false};
    MonoTime now_{};  // of the step
    MonoTime told_at_{};
};

}  // namespace telegate
