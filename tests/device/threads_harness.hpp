#pragma once

#include "device/sampling_threads.hpp"
#include "sampler_harness.hpp"
#include "support/eventually.hpp"

#include <poll.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace telegate::test {

// longer than any wait, because each wait ends by an action of the test
inline constexpr auto long_time = std::chrono::seconds(60);

/// The script of a WaitingDriver, and what the driver has done. Owned by the test; outlives the driver.
struct Bus {
    std::atomic<bool> hangs{false};
    std::atomic<bool> heeds_cancel{true};
    std::atomic<const char*> fails_with{nullptr};
    bool streams = false;
    bool waits_for_room = false;
    int samples = 1;  // in each read
    std::atomic<int> reads{0};
    std::atomic<int> reading{0};  // read() is in progress
    std::atomic<int> drivers{0};  // number of drivers
    std::atomic<int> resets_within_read{0};
    std::array<char, 16> thread{};  // written before the first read is counted
};

/// A device that may hang: read() waits until it stops hanging, or the cancel signal is set.
class WaitingDriver final : public Driver {
  public:
    explicit WaitingDriver(Bus& bus) : bus_(bus) { ++bus_.drivers; }
    ~WaitingDriver() override { --bus_.drivers; }

    DriverTraits traits() const noexcept override {
        return {.own_thread = true, .streams = bus_.streams, .waits_for_room = bus_.waits_for_room};
    }
    void cancel_with(const CancelSignal& signal) noexcept override { signal_ = &signal; }
    void open(SampleBatch& batch) override { channel_ = batch.add_channel("a", ""); }
    ReadResult read(SampleBatch& batch, MonoTime) noexcept override {
        if (bus_.reads == 0) {
            ::pthread_getname_np(::pthread_self(), bus_.thread.data(), bus_.thread.size());
        }
        ++bus_.reading;
        const ReadResult result = wait(batch);
        --bus_.reading;
        ++bus_.reads;
        return result;
    }
    void reset() noexcept override { bus_.resets_within_read += bus_.reading > 0 ? 1 : 0; }

  private:
    ReadResult wait(SampleBatch& batch) noexcept {
        while (bus_.hangs || bus_.streams) {
            pollfd canceled{signal_->descriptor(), POLLIN, 0};
            const int found = ::poll(&canceled, 1, 5);
            if (found > 0 && bus_.heeds_cancel) {
                return {ReadResult::Status::interrupted};
            }
            if (bus_.streams && !bus_.hangs) {
                break;
            }
        }
        if (const char* const what = bus_.fails_with) {
            return {ReadResult::Status::failed, what};
        }
        batch.stamp_now();
        for (int i = 0; i < bus_.samples; ++i) {
            batch.add(channel_, std::int64_t{bus_.reads + 1});
        }
        return {};
    }

    Bus& bus_;
    const CancelSignal* signal_ = nullptr;
    SampleBatch::Channel channel_{};
};

/// Sampling threads on the real clock.
struct ThreadsHarness {
    ~ThreadsHarness() {
        for (Bus& bus : buses) {
            bus.hangs = false;
        }
        held = false;
        threads.stop();
    }

    DeviceId add(Bus& bus, std::string name = "bus", Duration interval = std::chrono::milliseconds(1)) {
        return sampler.add(device_options(std::move(name), interval), std::make_unique<WaitingDriver>(bus));
    }
    /// Waits for a condition, and takes samples meanwhile.
    bool is_read(const Bus& bus, int times) {
        return eventually([&] {
            receive();
            return bus.reads >= times;
        });
    }
    void receive() {
        std::array<TelemetrySample, 256> some{};
        while (const std::size_t count = queue.pop(some)) {
            taken.insert(taken.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
        }
    }
    bool change(DeviceChange change) { return threads.run_change(sampler.prepare(std::move(change)), long_time); }
    bool set(Bus& bus, std::string name = "bus", Duration interval = std::chrono::milliseconds(1)) {
        DeviceChange change;
        change.set.push_back({device_options(std::move(name), interval), std::make_unique<WaitingDriver>(bus)});
        return this->change(std::move(change));
    }
    bool remove(std::string name = "bus") {
        DeviceChange change;
        change.removed.push_back(std::move(name));
        return this->change(std::move(change));
    }
    DeviceStatus status(DeviceId device) const { return sampler.status(device); }

    /// Checks that the channel has every number from 1, once and in order.
    bool numbers_are_whole() {
        receive();
        std::uint64_t last = 0;
        for (const TelemetrySample& sample : taken) {
            if (sample.seq != ++last) {
                return false;
            }
        }
        return last > 0;
    }

    std::array<Bus, 3> buses;
    std::array<Script, 2> scripts;
    std::atomic<bool> held{false};  // limit for waits in scripts
    SystemClock clock;
    ChannelTable channels;
    Ledger ledger{4, channels};
    QueueWaker waker;
    BoundedQueue<TelemetrySample> queue{1'000'000, OverflowPolicy::drop_oldest};
    Sampler sampler{clock, channels, {queue, ledger, waker}};
    SamplingThreads threads{sampler, clock};
    std::vector<TelemetrySample> taken;
};

}  // namespace telegate::test
