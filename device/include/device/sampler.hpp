#pragma once

#include "core/bounded_queue.hpp"
#include "core/clock.hpp"
#include "core/histogram.hpp"
#include "core/ledger.hpp"
#include "core/waker.hpp"
#include "device/alignment.hpp"
#include "device/breaker.hpp"
#include "device/device_news.hpp"
#include "device/device_state.hpp"
#include "device/driver.hpp"
#include "device/processing.hpp"

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

/// How one device is sampled.
struct DeviceOptions {
    /// A thread needs a few microseconds to wake up and to read; below this it would never rest.
    static constexpr Duration interval_min = std::chrono::microseconds(10);
    static constexpr Duration interval_max = std::chrono::hours(1);

    std::string name;                             // a topic part
    Duration interval = std::chrono::seconds(1);  // interval_min to interval_max
    Alignment alignment = Alignment::start;       // where its deadlines lie
    Duration offset{0};                           // moves them; less than the interval
    /// Failed reads in a row before state safe; 0: never; nullopt: errors_before_safe_shared, or never for a device
    /// with a thread of its own, which has a breaker.
    std::optional<std::uint32_t> errors_before_safe{};
    BreakerOptions breaker{};  // of a device with a thread of its own
    bool started = true;       // false: idle until it is started

    static constexpr std::uint32_t errors_before_safe_shared = 10;
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
    std::uint64_t reads_skipped = 0;  // deadlines at which it was left alone by its breaker
    std::uint64_t failures_in_row = 0;
    std::uint64_t lost_at_source = 0;  // readings that the device, or the kernel for it, lost before they were taken
    FilterCounts filtered_by{};        // by FilterReason
    std::string thread = {};           // that reads it
    std::optional<BreakerState> breaker{};  // of a device with a thread of its own
    std::string last_error = {};            // of the last failed read; "" when there was none since start or reset
    std::uint64_t refused = 0;              // lines, frames and datagrams of the device that were not taken
    std::string last_refused = {};          // why the last one was not; "" when there was none since start or reset
    std::int64_t last_refused_utc_ns = 0;   // when that was
    bool is_error_current = false;          // false: the device has recovered from last_error
    std::int64_t last_error_utc_ns = 0;     // 0: as with last_error
    std::int64_t last_good_utc_ns = 0;      // of the last good read that gave a reading; 0: none yet
    std::int64_t state_since_utc_ns = 0;    // when it entered `state`
    std::uint64_t outages = 0;              // how often it has gone from measuring to error since the start
    std::uint64_t samples_bad = 0;          // samples of quality bad
    bool is_wanted = true;                  // its settings start it
    std::chrono::nanoseconds lateness_p50{0};
    std::chrono::nanoseconds lateness_p99{0};
    std::chrono::nanoseconds lateness_max{0};

    /// Whether somebody has stopped it, or reset it from the state safe, and not started it again.
    [[nodiscard]] bool is_stopped() const noexcept { return state == DeviceState::idle && is_wanted; }
};

/// What is to become of devices while they are sampled. Those that it does not name stay as they are, to the last
/// deadline.
struct DeviceChange {
    struct NewDriver {
        DeviceOptions options;
        std::unique_ptr<Driver> driver;
        ProcessingPlan processing{};  // of its channels
    };
    std::vector<NewDriver> set;           // added; or, where there is one of the name, another driver for it
    std::vector<DeviceOptions> adjusted;  // driver and state stay; with another interval a new grid begins
    std::vector<std::string> removed;

    [[nodiscard]] bool empty() const noexcept { return set.empty() && adjusted.empty() && removed.empty(); }
};

/// Returns the name of a device's own thread, "tg-bus-NAME", which the system cuts at thread_name_bytes_max.
[[nodiscard]] std::string own_thread_name(std::string_view device);

enum class DeviceCommand : std::uint8_t { start, stop, reset };

/// Answer to a command: the state after it, and whether it was possible.
struct CommandResult {
    DeviceState state = DeviceState::idle;
    bool possible = true;  // false: the device is in state safe and must be reset first
};

/// Reads every device on absolute deadlines and hands the samples to the queue.
///
/// Interval k of a device is due at start + k * interval on the monotonic clock, so nothing drifts. A tick that could
/// not be served before the next one was due is counted as missed, never made up for. A device that may make others
/// wait is stepped by itself, on a thread of its own; a name that has had such a device keeps that thread.
///
/// A name that a device has had keeps its id, the numbers of its samples and its counts, also when the device is
/// removed and comes back.
///
/// Threads: step(MonoTime), apply() and command() of a device that it steps tg-sample; step_own(), install_own(),
///          remove_own() and command() of a device with a thread of its own that thread; add() before they start;
///          prepare(), announce() one at a time; all else any. See SamplingThreads.
/// Limits:  one read per device and step; each thread holds at most its share of the queue, and what it is lent; names
/// as
///          far as the ledger has room. A device that can wait for room in the queue waits a second at most.
/// Failure: a failed read gives samples of quality bad and the device state error, repeated failures state safe.
///          prepare() throws std::length_error when there have been too many names, and std::invalid_argument when a
///          channel that processing makes has the name of one that the driver has.
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

    /// Reports the alarms of all devices to `observer`. Before the first add().
    void observe_alarms_with(AlarmObserver observer) { alarm_observer_ = std::move(observer); }
    /// Before the first add(): is to be called with the device and the reason for each line, frame and datagram of a
    /// device that is not taken, on the thread that reads it.
    void on_refused(std::function<void(const std::string&, std::string_view)> handler) {
        on_refused_ = std::move(handler);
    }
    /// Reports the transitions of all devices to `observer`. Before the threads start.
    void observe_with(DeviceObserver observer) { observer_ = std::move(observer); }

    /// Names get the ids 0, 1, ... in order; `ledger` must have room for them.
    DeviceId add(DeviceOptions options, std::unique_ptr<Driver> driver, ProcessingPlan processing = {});

    /// A change made ready: drivers are open, all memory is there.
    struct Prepared;
    /// Names must be there that are adjusted or removed, and none twice. A change that is not applied costs the names
    /// that are new in it, nothing else.
    [[nodiscard]] std::shared_ptr<Prepared> prepare(DeviceChange change);
    /// Does what concerns the devices that step() reads, once. What it takes out, such as drivers, ends with
    /// `prepared`.
    void apply(Prepared& prepared);

    /// What is left of a change for devices with threads of their own.
    struct OwnChange {
        enum class Kind : std::uint8_t { install, adjust, remove };
        Kind kind;
        DeviceId device;
        std::size_t entry;                     // among those of its kind, for install_own() and adjust_own()
        std::shared_ptr<CancelSignal> cancel;  // of the driver to install
    };
    [[nodiscard]] static std::vector<OwnChange> own_changes(const Prepared& prepared);
    /// Shows the device as there, or as gone, before install_own() and remove_own(), which may take their time.
    void announce(DeviceId device, bool present) noexcept;
    /// Once for each, when the thread of the device before has ended. What was before it ends with `prepared`.
    void install_own(Prepared& prepared, std::size_t entry);
    void adjust_own(Prepared& prepared, std::size_t entry);
    void remove_own(DeviceId device);
    /// Of a device that is installed, while no thread reads it.
    [[nodiscard]] std::shared_ptr<CancelSignal> cancel_of(DeviceId device) const noexcept;

    /// Reads each device that is due at `now`, once. Returns when the next one is due; MonoTime::max() if none runs.
    MonoTime step(MonoTime now);
    /// The same for one device with a thread of its own.
    MonoTime step_own(DeviceId device, MonoTime now);

    /// start: idle -> measuring, at a deadline grid that begins now; one that runs keeps its own.
    /// stop: any but safe -> idle. reset: driver reset, errors forgotten, safe -> idle; other states stay as they are.
    /// All are idempotent. start and stop are not possible in state safe. A device that has been removed stays idle.
    CommandResult command(DeviceId device, DeviceCommand command);

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
    /// Whether it has, or had, a thread of its own.
    [[nodiscard]] bool is_own(DeviceId device) const noexcept;
    /// The state alone, which costs next to nothing. Threads: any.
    [[nodiscard]] DeviceState state(DeviceId device) const noexcept;
    /// When the queue last dropped a sample of the device because it was full. Threads: any.
    [[nodiscard]] std::optional<MonoTime> overflowed_at(DeviceId device) const noexcept;
    /// Whether tg-sample waits for room in a queue with policy block. Threads: any.
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
    /// Whether the read came to its end.
    [[nodiscard]] bool read(Device& device, MonoTime now, const ClockPair& both);
    void hand_over(Device& device, std::span<const TelemetrySample> samples);
    void push(const Device& device, std::span<const TelemetrySample> samples);
    void await_room(const Device& device, std::size_t samples, MonoTime until);
    void notify_consumer(MonoTime now);
    void enter_filtered(Device& device, const FilteredSamples& filtered);

    const Clock& clock_;
    ChannelTable& channels_;
    BoundedQueue<TelemetrySample>& queue_;
    Ledger& ledger_;
    Waker& waker_;
    AlarmObserver alarm_observer_;
    DeviceObserver observer_;
    const std::unique_ptr<std::unique_ptr<Device>[]>
        by_id_;                          // of names that there have been, at most ledger_.devices()
    std::atomic<std::size_t> names_{0};  // released after the entry is complete
    std::vector<Device*> devices_;       // those that step(MonoTime) reads; tg-sample's
    std::atomic<bool> interrupted_{false};
    std::atomic<bool> waits_for_room_{false};
    std::atomic<MonoTime> notified_at_{MonoTime()};
    std::function<void(const std::string&, std::string_view)> on_refused_;
};

}  // namespace telegate
