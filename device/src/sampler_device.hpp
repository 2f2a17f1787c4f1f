#pragma once

#include "core/assert.hpp"
#include "core/sequence_lock.hpp"
#include "deadline_grid.hpp"
#include "device/breaker.hpp"
#include "device/cancel_signal.hpp"
#include "device/sampler.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// The text of the last error.
///
/// Threads: store() one writer; load() any, lock-free.
/// Limits: bytes_max; a longer text is truncated at a UTF-8 boundary.
/// Failure: none. load() retries, without a lock, while a store() is in progress.
class ErrorText {
  public:
    static constexpr std::size_t bytes_max = 160;

    void store(std::string_view text) noexcept;
    [[nodiscard]] std::string load() const;

  private:
    static constexpr std::size_t words = bytes_max / sizeof(std::uint64_t);
    using Words = std::array<std::uint64_t, words>;

    Words last_{};  // used by the writer only
    std::size_t last_bytes_ = 0;
    SequenceLock lock_;
    std::atomic<std::size_t> bytes_{0};
    std::array<std::atomic<std::uint64_t>, words> words_{};
};

/// A device name and its device. The counts belong to the name, and continue when the device is replaced.
///
/// Threads: the one that reads the device writes. Other threads may read the name, the id, the atomics, the errors and
/// the histogram.
/// Limits: those of the batch; for a removed device one sequence number per channel.
/// Failure: none.
struct Sampler::Device {
    const std::string name;
    const DeviceId id;
    DeviceOptions options;
    BoundedQueue<TelemetrySample>::Producer* producer;                // of the thread that reads the device
    BoundedQueue<TelemetrySample>::Producer* own_producer = nullptr;  // set before the device gets its own thread
    std::uint64_t shared_samples_until = 0;  // its last samples from the shared producer are before this number
    std::shared_ptr<CancelSignal> cancel;    // for a driver with its own thread; outlives the driver
    std::unique_ptr<Driver> driver;          // null while there is no such device
    std::unique_ptr<SampleBatch> batch;      // null while there is no such device
    std::vector<ChannelSeq> past;            // sequence numbers of its channels while there is no batch
    DeadlineGrid grid;                       // begins at the first step
    MonoTime read_at{};                      // start of the last reading
    MonoTime retry_at{};                     // for a streaming device
    Breaker breaker;
    DriverTraits traits;         // of the driver
    QueueNeed need;              // as the queue knows it
    std::size_t in_reading = 0;  // samples of the current reading so far

    std::atomic<bool> own{false};  // has its own thread; never reset; the mutexes of SamplingThreads order it
    std::atomic<bool> present{false};
    std::atomic<Duration> interval{Duration(0)};
    std::atomic<DeviceState> state{DeviceState::idle};
    std::atomic<BreakerState> breaker_state{BreakerState::closed};
    std::atomic<std::size_t> channels{0};
    std::atomic<std::uint64_t> reads{0};
    std::atomic<std::uint64_t> reads_failed{0};
    std::atomic<std::uint64_t> ticks_missed{0};
    std::atomic<std::uint64_t> reads_skipped{0};
    std::atomic<std::uint64_t> consecutive_failures{0};
    std::atomic<std::uint64_t> lost_at_source{0};
    // when the full queue last dropped a sample of the device; min: never
    std::atomic<MonoTime> overflowed_at{MonoTime::min()};
    std::array<std::atomic<std::uint64_t>, filter_reasons> filtered_by{};
    std::atomic<std::uint64_t> samples_bad{0};
    std::atomic<std::uint64_t> outages{0};
    std::atomic<std::int64_t> state_since_utc_ns{0};
    std::atomic<std::int64_t> last_good_utc_ns{0};
    std::atomic<std::int64_t> last_error_utc_ns{0};
    std::atomic<bool> is_error_current{false};
    std::atomic<bool> is_wanted{true};
    ErrorText last_error;
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::int64_t> refused_utc_ns{0};
    ErrorText last_refused;
    DurationHistogram lateness;

    Device(std::string device_name, DeviceId device_id, Sampler& sampler)
        : name(std::move(device_name)),
          id(device_id),
          producer(&sampler.queue_.first()),
          breaker({}, to_index(device_id) + 1),
          clock_(sampler.clock_),
          observer_(sampler.observer_) {}

    [[nodiscard]] bool runs() const noexcept {
        const DeviceState current = state.load(std::memory_order_relaxed);
        return current == DeviceState::measuring || current == DeviceState::error;
    }
    void enter(DeviceState next) noexcept {
        if (state.load(std::memory_order_relaxed) != next || state_since_utc_ns.load(std::memory_order_relaxed) == 0) {
            state_since_utc_ns.store(clock_.utc_now_ns(), std::memory_order_relaxed);
            state.store(next, std::memory_order_relaxed);
        }
    }
    /// Reports a transition without further data.
    void report(DeviceTransition transition) const { report({.transition = transition}, {}); }

    /// Takes over the counts of the batch.
    void record_batch() noexcept {
        channels.store(batch->channels(), std::memory_order_relaxed);
        const std::uint64_t lost = batch->lost_at_source();
        if (lost != lost_seen_) {
            lost_at_source.fetch_add(lost - lost_seen_, std::memory_order_relaxed);
            lost_seen_ = lost;
        }
        const std::uint64_t refusals = batch->refusals();
        if (refusals != refusals_seen_) {
            refused.fetch_add(refusals - refusals_seen_, std::memory_order_relaxed);
            refused_utc_ns.store(batch->clock().utc_now_ns(), std::memory_order_relaxed);
            last_refused.store(batch->last_refused());
            refusals_seen_ = refusals;
        }
        const std::uint64_t bad = batch->samples_bad();
        bad_in_read_ = bad - bad_seen_;
        if (bad_in_read_ != 0) {
            samples_bad.fetch_add(bad_in_read_, std::memory_order_relaxed);
            bad_seen_ = bad;
        }
    }

    /// Reports a channel that the driver declared after open() and whose name is that of a derived channel. Reported
    /// once, in place of an error of the reading, which is reported again if it persists.
    void record_clash() noexcept {
        if (clash_reported_ || batch->clash().empty()) {
            return;
        }
        clash_reported_ = true;
        record_error("channel \"" + batch->clash() +
                     "\" is declared by the device and by its processing settings: the later one gets no samples");
    }

    void count_filtered(const FilterCounts& by_reason) noexcept {
        for (std::size_t reason = 0; reason < filter_reasons; ++reason) {
            filtered_by[reason].fetch_add(by_reason[reason], std::memory_order_relaxed);
        }
    }

    /// Counts missed deadlines and advances to the first deadline after `now` on the same grid; while the breaker is
    /// open, to the first deadline after its wait.
    void schedule_after(MonoTime now) noexcept {
        ticks_missed.fetch_add(grid.advance(now), std::memory_order_relaxed);
        if (is_left_alone() && grid.due() < breaker.retry_at()) {
            reads_skipped.fetch_add(grid.advance(breaker.retry_at()) + 1, std::memory_order_relaxed);
        }
    }
    [[nodiscard]] bool is_left_alone() const noexcept { return breaker.state() == BreakerState::open; }

    void record_result(const ReadResult& result, std::int64_t read_utc_ns) noexcept {
        reads.fetch_add(1, std::memory_order_relaxed);
        if (result.status == ReadResult::Status::failed) {
            return record_failure(result);
        }
        if (!traits.streams || batch->has_samples()) {  // a streaming device may have sent nothing
            last_good_utc_ns.store(read_utc_ns, std::memory_order_relaxed);
        }
        if (!result.what.empty()) {
            record_error(result.what);
        } else if (is_error_current.load(std::memory_order_relaxed)) {
            is_error_current.store(false, std::memory_order_relaxed);
        }
        const bool has_recovered = state.load(std::memory_order_relaxed) == DeviceState::error;
        const bool was_left_alone = breaker_state.load(std::memory_order_relaxed) == BreakerState::open;
        forget_failures();
        enter(DeviceState::measuring);
        if (has_recovered) [[unlikely]] {
            end_outage(was_left_alone);
        }
    }
    void record_failure(const ReadResult& result) noexcept;
    void record_error(std::string_view what) noexcept {
        last_error.store(what);
        last_error_utc_ns.store(clock_.utc_now_ns(), std::memory_order_relaxed);
        is_error_current.store(true, std::memory_order_relaxed);
    }

    [[nodiscard]] std::uint32_t errors_before_safe() const noexcept {
        const std::uint32_t standard =
            own.load(std::memory_order_relaxed) ? 0 : DeviceOptions::errors_before_safe_shared;
        return options.errors_before_safe.value_or(standard);
    }

    void show_breaker() noexcept { breaker_state.store(breaker.state(), std::memory_order_relaxed); }

    void forget_failures() noexcept {
        consecutive_failures.store(0, std::memory_order_relaxed);
        retry_at = {};
        breaker.reset();
        show_breaker();
    }

    void forget_errors() noexcept {
        forget_failures();
        last_error.store("");
        last_refused.store("");
        last_error_utc_ns.store(0, std::memory_order_relaxed);
        is_error_current.store(false, std::memory_order_relaxed);
        clash_reported_ = false;
    }

    void start() noexcept {
        forget_errors();
        grid.forget();
        enter(DeviceState::measuring);
    }

    void reset() noexcept {
        driver->reset();
        forget_errors();
        if (state.load(std::memory_order_relaxed) == DeviceState::safe) {
            enter(DeviceState::idle);
        }
    }

    void adjust(DeviceOptions to) {
        grid.set_rule({to.interval, to.alignment, to.offset, to_index(id)});
        breaker.adjust(to.breaker);
        options = std::move(to);
        is_wanted.store(options.started, std::memory_order_relaxed);
        interval.store(options.interval, std::memory_order_relaxed);
    }

    /// Installs a driver and a batch, and returns the previous ones. A device that a command stopped stays stopped.
    void install(DeviceOptions to, std::unique_ptr<Driver>& other_driver, std::unique_ptr<SampleBatch>& other_batch) {
        const bool is_new = driver == nullptr;
        const bool is_stopped = is_new ? !to.started : state.load() == DeviceState::idle;
        close_driver();
        other_batch->go_on_from(batch == nullptr ? std::exchange(past, {}) : batch->retire(), batch.get());
        driver.swap(other_driver);
        batch.swap(other_batch);
        traits = driver->traits();
        lost_seen_ = 0;
        refusals_seen_ = 0;
        bad_seen_ = 0;
        adjust(std::move(to));
        grid.forget();
        forget_errors();
        record_batch();
        enter(is_stopped ? DeviceState::idle : DeviceState::measuring);
        report(is_new ? DeviceTransition::added : DeviceTransition::changed);
    }

    void remove(std::unique_ptr<Driver>& old_driver, std::unique_ptr<SampleBatch>& old_batch) {
        enter(DeviceState::idle);
        close_driver();
        past = batch->retire();
        old_driver = std::move(driver);
        old_batch = std::move(batch);
        channels.store(0, std::memory_order_relaxed);
        report(DeviceTransition::removed);
    }

  private:
    /// The counts when the current series of failures began.
    struct Outage {
        MonoTime began{};
        std::uint64_t reads_failed = 0;
        std::uint64_t reads_left_out = 0;
        std::uint64_t samples_bad = 0;
    };

    void begin_outage() noexcept;
    void end_outage(bool breaker_was_open) const noexcept;
    /// Fills in device and time.
    void report(DeviceNews news, std::string_view why) const;
    [[nodiscard]] std::uint64_t reads_left_out() const noexcept {
        return ticks_missed.load(std::memory_order_relaxed) + reads_skipped.load(std::memory_order_relaxed);
    }

    void close_driver() {
        if (driver != nullptr) {
            driver->close(*batch);
            record_batch();
        }
    }

    std::uint64_t lost_seen_ = 0;      // of the current batch
    std::uint64_t refusals_seen_ = 0;  // of the current batch
    const Clock& clock_;
    const DeviceObserver& observer_;
    Outage outage_;               // of the last outage
    std::uint64_t bad_seen_ = 0;  // of the current batch
    std::uint64_t bad_in_read_ = 0;
    bool clash_reported_ = false;  // since the errors were cleared
};

}  // namespace telegate
