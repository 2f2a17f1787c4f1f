#pragma once

#include "core/bounded_queue.hpp"
#include "core/clock.hpp"
#include "core/histogram.hpp"
#include "core/ledger.hpp"
#include "core/waker.hpp"
#include "device/breaker.hpp"
#include "device/device_news.hpp"
#include "device/driver.hpp"
#include "device/processing.hpp"
#include "device/queue_need.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// How the deadlines of a device are aligned.
enum class Alignment : std::uint8_t {
    start,   // relative to the start of the device
    wall,    // at whole multiples of the interval on the wall clock
    spread,  // away from those of other devices with the same interval
};

/// How one device is sampled.
struct DeviceOptions {
    /// Waking up and reading takes a thread a few microseconds; with a shorter interval it would never sleep.
    static constexpr Duration interval_min = std::chrono::microseconds(10);
    static constexpr Duration interval_max = std::chrono::hours(1);

    std::string name;                             // a topic part
    Duration interval = std::chrono::seconds(1);  // interval_min to interval_max
    Alignment alignment = Alignment::start;       // alignment of its deadlines
    Duration offset{0};                           // shifts the deadlines; less than the interval
    /// Consecutive failed readings before state safe; 0: never; nullopt: errors_before_safe_shared, or never for a
    /// device with its own thread, which has a breaker.
    std::optional<std::uint32_t> errors_before_safe{};
    BreakerOptions breaker{};  // for a device with its own thread
    bool started = true;       // false: idle until a start command

    static constexpr std::uint32_t errors_before_safe_shared = 10;
};

/// The externally visible state of a device. All numbers are read from the sampler's own counters.
struct DeviceStatus {
    std::string name;
    DeviceState state = DeviceState::idle;
    Duration interval{0};
    std::size_t channels = 0;
    std::uint64_t reads = 0;
    std::uint64_t reads_failed = 0;
    std::uint64_t ticks_missed = 0;
    std::uint64_t reads_skipped = 0;  // deadlines that were skipped because the breaker was open
    std::uint64_t consecutive_failures = 0;
    // readings that the device, or the kernel on its behalf, lost before they were read
    std::uint64_t lost_at_source = 0;
    FilterCounts filtered_by{};             // by FilterReason
    std::string thread = {};                // the thread that reads it
    std::optional<BreakerState> breaker{};  // for a device with its own thread
    std::string last_error = {};            // of the last failed reading; "": none since start or reset
    std::uint64_t refused = 0;              // lines, frames and datagrams of the device that were refused
    std::string last_refused = {};          // reason for the last refusal; "": none since start or reset
    std::int64_t last_refused_utc_ns = 0;   // time of the last refusal
    bool is_error_current = false;          // false: the device has recovered from last_error
    std::int64_t last_error_utc_ns = 0;     // 0: none since start or reset
    std::int64_t last_good_utc_ns = 0;      // of the last good reading that returned data; 0: none yet
    std::int64_t state_since_utc_ns = 0;    // when it entered `state`
    std::uint64_t outages = 0;              // transitions from measuring to error since the start
    std::uint64_t samples_bad = 0;          // samples with quality bad
    bool is_wanted = true;                  // the settings start it
    std::chrono::nanoseconds lateness_p50{0};
    std::chrono::nanoseconds lateness_p99{0};
    std::chrono::nanoseconds lateness_max{0};

    /// Returns whether a command stopped the device, or reset it from state safe, and it was not started again.
    [[nodiscard]] bool is_stopped() const noexcept { return state == DeviceState::idle && is_wanted; }
};

/// Changes to devices while they are sampled. Devices that are not listed are not affected and miss no deadline.
struct DeviceChange {
    struct NewDriver {
        DeviceOptions options;
        std::unique_ptr<Driver> driver;
        ProcessingPlan processing{};  // of its channels
    };
    std::vector<NewDriver> set;           // added, or replaces the driver of the device with this name
    std::vector<DeviceOptions> adjusted;  // driver and state stay; a different interval starts a new grid
    std::vector<std::string> removed;

    [[nodiscard]] bool empty() const noexcept { return set.empty() && adjusted.empty() && removed.empty(); }
};

/// Returns the name of a device's own thread, "tg-bus-NAME", which the system truncates to thread_name_bytes_max.
[[nodiscard]] std::string own_thread_name(std::string_view device);

enum class DeviceCommand : std::uint8_t { start, stop, reset };

/// The result of a command.
struct CommandResult {
    DeviceState state = DeviceState::idle;
    bool possible = true;  // false: the device is in state safe and must be reset first
};

/// Reads every device at absolute deadlines and hands its samples to the queue.
///
/// Deadline k of a device is start + k * interval on the monotonic clock, so deadlines do not drift. A tick that is not
/// served before the next deadline is counted as missed and not repeated. A device that may block is stepped on its own
/// thread; a name that has had such a device keeps its thread.
///
/// A device name keeps its id, sequence numbers and counts, even if the device is removed and added again.
///
/// Threads: step(MonoTime), apply() and command() of a shared device run on tg-sample. step_own(), install_own(),
/// remove_own() and command() of a device with its own thread run on that thread. add() runs before the threads start.
/// prepare() and announce() run one at a time. Everything else is for any thread. See SamplingThreads.
/// Limits: one reading per device and step. Each thread can use its share of the queue, plus borrowed capacity. The
/// ledger limits the number of names. A device that can wait for queue capacity waits for at most one second.
/// Failure: a failed reading produces samples with quality bad and the device state error; repeated failures give state
/// safe. prepare() throws std::length_error if there are too many names, and std::invalid_argument if a channel derived
/// by processing has the name of a channel of the driver.
class Sampler {
  public:
    /// A consumer in low-power mode is woken immediately when this fraction of the queue is full, 1/notify_queue_share,
    /// or when it holds this many samples, so that a large queue does not use more memory.
    static constexpr std::size_t notify_queue_share = 8;
    static constexpr std::size_t notify_samples_max = 1'024;

    /// Where samples go.
    struct Outputs {
        BoundedQueue<TelemetrySample>& queue;
        Ledger& ledger;
        QueueWaker& waker;  // of the queue's consumer
    };

    Sampler(const Clock& clock, ChannelTable& channels, const Outputs& outputs);
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    /// Sets the receiver of the alarms of all devices. Call it before the first add().
    void observe_alarms_with(AlarmObserver observer) { alarm_observer_ = std::move(observer); }
    /// Sets a handler that is called with the device and the reason for each refused line, frame and datagram, on the
    /// thread that reads the device. Call it before the first add().
    void on_refused(std::function<void(const std::string&, std::string_view)> handler) {
        on_refused_ = std::move(handler);
    }
    /// Sets a handler that is called if the queue may not hold one reading of each device: when the devices need more
    /// than before, on a thread that reads one of them, and in check_queue(). Call it before the threads start.
    void on_small_queue(std::function<void()> handler) { on_small_queue_ = std::move(handler); }
    /// Call it after a change of the capacity. Threads: any.
    void check_queue() const;
    /// Returns what all devices together need. Threads: any.
    [[nodiscard]] QueueNeed queue_need() const noexcept {
        constexpr auto order = std::memory_order_relaxed;
        return {reading_needed_.load(order), known_needed_.load(order), items_needed_.load(order)};
    }
    /// Sets the receiver of the transitions of all devices. Call it before the threads start.
    void observe_with(DeviceObserver observer) { observer_ = std::move(observer); }

    /// Adds a device. Names get the ids 0, 1, ... in order; `ledger` must have capacity for them.
    DeviceId add(DeviceOptions options, std::unique_ptr<Driver> driver, ProcessingPlan processing = {});

    /// A prepared change: drivers are open, and all memory is allocated.
    struct Prepared;
    /// Prepares a change. Adjusted and removed names must exist, and no name may be listed more than once. A change
    /// that is not applied uses up ids for its new names, and has no other effect.
    [[nodiscard]] std::shared_ptr<Prepared> prepare(DeviceChange change);
    /// Applies the part of a change that concerns the devices of step(). Call it once. Removed objects, such as
    /// drivers, are destroyed with `prepared`.
    void apply(Prepared& prepared);

    /// The part of a change that concerns one device with its own thread.
    struct OwnChange {
        enum class Kind : std::uint8_t { install, adjust, remove };
        Kind kind;
        DeviceId device;
        // index among the entries of this kind, for install_own() and adjust_own()
        std::size_t entry;
        std::shared_ptr<CancelSignal> cancel;  // of the driver that is installed
    };
    [[nodiscard]] static std::vector<OwnChange> own_changes(const Prepared& prepared);
    /// Marks the device as present or removed, before install_own() and remove_own(), which may take longer.
    void announce(DeviceId device, bool present) noexcept;
    /// Apply one entry each, after the previous thread of the device has ended. Replaced objects are destroyed with
    /// `prepared`.
    void install_own(Prepared& prepared, std::size_t entry);
    void adjust_own(Prepared& prepared, std::size_t entry);
    void remove_own(DeviceId device);
    /// Returns the signal of an installed device. Call it while no thread reads the device.
    [[nodiscard]] std::shared_ptr<CancelSignal> cancel_of(DeviceId device) const noexcept;

    /// Reads each device that is due at `now` once. Returns the next deadline; MonoTime::max() if no device runs.
    MonoTime step(MonoTime now);
    /// Like step(), for one device with its own thread.
    MonoTime step_own(DeviceId device, MonoTime now);

    /// Runs a command. start: idle -> measuring, with a deadline grid that begins now; a running device keeps its grid.
    /// stop: any state except safe -> idle. reset: resets the driver and clears errors, safe -> idle; other states
    /// stay. All commands are idempotent. start and stop are not possible in state safe. A removed device stays idle.
    CommandResult command(DeviceId device, DeviceCommand command);

    /// While interrupted, step() finishes the current reading and reads no other device. Threads: any.
    void interrupt(bool interrupted) noexcept { interrupted_.store(interrupted, std::memory_order_relaxed); }

    /// Returns the devices that are present, by id.
    [[nodiscard]] std::vector<DeviceId> devices() const;
    /// Returns the number of names so far. Smaller ids have a ledger entry.
    [[nodiscard]] std::size_t names() const noexcept { return names_.load(std::memory_order_acquire); }
    /// Returns nullopt for an unknown or removed device.
    [[nodiscard]] std::optional<DeviceId> find(std::string_view name) const noexcept;
    /// Also works for a removed device.
    [[nodiscard]] DeviceStatus status(DeviceId device) const;
    /// Returns whether the device has, or had, its own thread.
    [[nodiscard]] bool is_own(DeviceId device) const noexcept;
    /// Returns only the state, which is cheap. Threads: any.
    [[nodiscard]] DeviceState state(DeviceId device) const noexcept;
    /// Returns when the full queue last dropped a sample of the device. Threads: any.
    [[nodiscard]] std::optional<MonoTime> overflowed_at(DeviceId device) const noexcept;
    /// Returns whether tg-sample waits for capacity in a queue with policy block. Threads: any.
    [[nodiscard]] bool waits_for_room() const noexcept { return waits_for_room_.load(std::memory_order_relaxed); }

  private:
    struct Device;
    [[nodiscard]] Device& device_named(const std::string& name);
    [[nodiscard]] Device* find_name(std::string_view name) const noexcept;
    [[nodiscard]] Device& at(DeviceId device) const noexcept;
    [[nodiscard]] std::unique_ptr<SampleBatch> open_batch(Device& device, const DeviceOptions& options, Driver& driver,
                                                          ProcessingPlan processing);
    [[nodiscard]] MonoTime step(Device& device, MonoTime now);
    [[nodiscard]] MonoTime step_on_grid(Device& device, MonoTime now);
    [[nodiscard]] MonoTime step_stream(Device& device, MonoTime now);
    /// Returns whether the reading was completed.
    [[nodiscard]] bool read(Device& device, MonoTime now, const ClockPair& both);
    void hand_over(Device& device, std::span<const TelemetrySample> samples);
    void push(const Device& device, std::span<const TelemetrySample> samples);
    void reserve_queue(Device& device, std::size_t samples);
    void set_need(Device& device, const QueueNeed& need);
    void renew_need(Device& device);
    void await_room(const Device& device, std::size_t samples, MonoTime until);
    void notify_consumer();
    void enter_filtered(Device& device, const FilteredSamples& filtered);

    const Clock& clock_;
    ChannelTable& channels_;
    BoundedQueue<TelemetrySample>& queue_;
    Ledger& ledger_;
    QueueWaker& waker_;
    AlarmObserver alarm_observer_;
    DeviceObserver observer_;
    const std::unique_ptr<std::unique_ptr<Device>[]>
        by_id_;                          // indexed by id, including removed names; at most ledger_.devices()
    std::atomic<std::size_t> names_{0};  // released after the entry is complete
    std::vector<Device*> devices_;       // the devices that step(MonoTime) reads; used by tg-sample
    std::atomic<bool> interrupted_{false};
    std::atomic<bool> waits_for_room_{false};
    std::function<void(const std::string&, std::string_view)> on_refused_;
    std::function<void()> on_small_queue_;
    QueueNeed need_shared_;  // of the devices of tg-sample; used by that thread
    std::atomic<std::size_t> reading_needed_{0};
    std::atomic<std::size_t> known_needed_{0};
    std::atomic<std::size_t> items_needed_{0};
};

}  // namespace telegate
