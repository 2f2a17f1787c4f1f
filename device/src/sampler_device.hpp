#pragma once

#include "device/sampler.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

/// A name and what is sampled under it. The counts belong to the name, and go on when the device is another one.
///
/// Threads: the sampling thread writes; the name, the id, the atomics and the histogram are what others read.
/// Limits:  the batch's; for a device that has gone the number of each of its channels.
/// Failure: none.
struct Sampler::Device {
    const std::string name;
    const DeviceId id;
    DeviceOptions options;
    std::unique_ptr<Driver> driver;      // null while there is no such device
    std::unique_ptr<SampleBatch> batch;  // as well
    std::vector<ChannelSeq> past;        // of its channels, while there is no batch
    std::optional<MonoTime> due;         // of the next read; none while the deadline grid waits for its first step
    std::uint32_t errors_in_row = 0;

    std::atomic<bool> present{false};
    std::atomic<Duration> interval{Duration(0)};
    std::atomic<DeviceState> state{DeviceState::idle};
    std::atomic<std::size_t> channels{0};
    std::atomic<std::uint64_t> reads{0};
    std::atomic<std::uint64_t> reads_failed{0};
    std::atomic<std::uint64_t> ticks_missed{0};
    std::atomic<const char*> last_error{""};
    DurationHistogram lateness;

    Device(std::string device_name, DeviceId device_id) : name(std::move(device_name)), id(device_id) {}

    [[nodiscard]] bool runs() const noexcept {
        const DeviceState current = state.load(std::memory_order_relaxed);
        return current == DeviceState::measuring || current == DeviceState::error;
    }
    void enter(DeviceState next) noexcept { state.store(next, std::memory_order_relaxed); }

    void count_channels() noexcept { channels.store(batch->channels(), std::memory_order_relaxed); }

    /// Counts the deadlines that passed unserved and moves on to the first one after `now`, on the same grid.
    void schedule_after(MonoTime now) noexcept {
        const auto missed = (now - *due) / options.interval;
        ticks_missed.fetch_add(static_cast<std::uint64_t>(missed), std::memory_order_relaxed);
        *due += (missed + 1) * options.interval;
    }

    void note_result(const ReadResult& result) noexcept {
        reads.fetch_add(1, std::memory_order_relaxed);
        if (result.status == ReadResult::Status::ok) {
            errors_in_row = 0;
            return enter(DeviceState::measuring);
        }
        reads_failed.fetch_add(1, std::memory_order_relaxed);
        last_error.store(result.what, std::memory_order_relaxed);
        ++errors_in_row;
        const bool gives_up = options.errors_before_safe != 0 && errors_in_row >= options.errors_before_safe;
        enter(gives_up ? DeviceState::safe : DeviceState::error);
    }

    void forget_errors() noexcept {
        errors_in_row = 0;
        last_error.store("", std::memory_order_relaxed);
    }

    void start(MonoTime now) noexcept {
        forget_errors();
        due = now;
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
        if (to.interval != options.interval) {
            due.reset();
        }
        options = std::move(to);
        interval.store(options.interval, std::memory_order_relaxed);
    }

    /// Takes the driver and the batch, and gives back those before. A device that somebody has stopped stays so.
    void install(DeviceOptions to, std::unique_ptr<Driver>& other_driver, std::unique_ptr<SampleBatch>& other_batch) {
        const bool is_stopped = driver == nullptr ? !to.started : state.load() == DeviceState::idle;
        other_batch->go_on_from(batch == nullptr ? std::exchange(past, {}) : batch->retire());
        driver.swap(other_driver);
        batch.swap(other_batch);
        adjust(std::move(to));
        due.reset();
        forget_errors();
        count_channels();
        enter(is_stopped ? DeviceState::idle : DeviceState::measuring);
        present.store(true, std::memory_order_relaxed);
    }

    void remove(std::unique_ptr<Driver>& old_driver, std::unique_ptr<SampleBatch>& old_batch) {
        present.store(false, std::memory_order_relaxed);
        enter(DeviceState::idle);
        past = batch->retire();
        old_driver = std::move(driver);
        old_batch = std::move(batch);
        channels.store(0, std::memory_order_relaxed);
    }
};

}  // namespace telegate
