#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "threads_harness.hpp"

#include <poll.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Commands, changes, stop and start from several threads while devices move between threads.

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// Detects two threads that use one device concurrently. It does not order threads itself, so TSan also reports threads
/// that could have met.
struct DeviceUse {
    std::atomic<bool> is_used{false};
    std::atomic<int> overlaps{0};
    std::atomic<int> reads{0};
    std::uint64_t uses = 0;  // not atomic, so TSan can detect races

    template <class Call>
    void run(Call call) noexcept {
        if (is_used.exchange(true, std::memory_order_relaxed)) {
            overlaps.fetch_add(1, std::memory_order_relaxed);
        }
        ++uses;
        call();
        is_used.store(false, std::memory_order_relaxed);
    }
};

/// A driver with its own thread that reads continuously, for a millisecond each, and ignores the cancel signal.
class UsedDriver final : public Driver {
  public:
    UsedDriver(DeviceUse& use, bool own_thread, std::function<void()> on_close)
        : use_(use), own_thread_(own_thread), on_close_(std::move(on_close)) {}

    DriverTraits traits() const noexcept override { return {.own_thread = own_thread_, .streams = own_thread_}; }
    void open(SampleBatch& batch) override { channel_ = batch.add_channel("a", ""); }
    ReadResult read(SampleBatch& batch, MonoTime) noexcept override {
        use_.run([&] {
            if (own_thread_) {
                ::poll(nullptr, 0, 1);
            }
            batch.add(channel_, std::int64_t{1});
        });
        use_.reads.fetch_add(1, std::memory_order_relaxed);
        return {};
    }
    void reset() noexcept override {
        use_.run([] {});
    }
    void close(SampleBatch&) noexcept override { use_.run(on_close_); }

  private:
    DeviceUse& use_;
    const bool own_thread_;
    const std::function<void()> on_close_;
    SampleBatch::Channel channel_{};
};

constexpr bool on_tg_sample = false;
constexpr bool on_own_thread = true;

struct CrossingHarness {
    static constexpr std::size_t devices_max = 16;

    ~CrossingHarness() { threads.stop(); }

    static DeviceChange to(
        DeviceUse& use, const std::string& name, bool own_thread, std::function<void()> on_close = [] {}) {
        DeviceChange change;
        change.set.push_back(
            {device_options(name, 1ms), std::make_unique<UsedDriver>(use, own_thread, std::move(on_close))});
        return change;
    }
    static DeviceChange without(const std::string& name) {
        DeviceChange change;
        change.removed.push_back(name);
        return change;
    }
    /// Retries while the threads are stopped.
    bool change(DeviceChange change) {
        const auto prepared = sampler.prepare(std::move(change));
        return eventually([&] { return threads.run_change(prepared, long_time); });
    }
    /// Returns whether the change was made and the new driver was read.
    bool set(DeviceUse& use, const std::string& name, bool own_thread) {
        const int reads = use.reads;
        return change(to(use, name, own_thread)) && is_read(use, reads + 2);
    }
    /// Takes samples meanwhile, because a device that gets its own thread waits for that.
    bool is_read(const DeviceUse& use, int reads) {
        return eventually([&] {
            std::array<TelemetrySample, 256> taken{};
            while (queue.pop(taken) > 0) {
            }
            return use.reads >= reads;
        });
    }

    SystemClock clock;
    ChannelTable channels;
    Ledger ledger{devices_max, channels};
    QueueWaker waker;
    BoundedQueue<TelemetrySample> queue{1'000, OverflowPolicy::drop_oldest};
    Sampler sampler{clock, channels, {queue, ledger, waker}};
    SamplingThreads threads{sampler, clock};
};

/// Sends commands to the device that was added last. The last command starts it, so it is read again.
void send_commands(CrossingHarness& h, const std::atomic<bool>& done) {
    while (!done) {
        const auto device = static_cast<DeviceId>(h.sampler.names() - 1);
        for (const DeviceCommand each : {DeviceCommand::reset, DeviceCommand::stop, DeviceCommand::start}) {
            (void)h.threads.run_command(device, each, long_time);
        }
    }
}

void restart_threads(CrossingHarness& h, const std::atomic<bool>& done) {
    while (!done) {
        h.threads.stop();
        h.threads.start();
        ::poll(nullptr, 0, 5);  // allows some changes to complete
    }
}

}  // namespace

TEST_CASE("only one thread at a time uses a device during concurrent commands, changes and restarts",
          "[device][own][change]") {
    std::array<DeviceUse, CrossingHarness::devices_max> uses;
    CrossingHarness h;
    std::atomic<bool> done{false};
    h.threads.start();
    REQUIRE(h.set(uses[0], "device-0", on_tg_sample));
    std::vector<std::thread> others;
    for (int commander = 0; commander < 2; ++commander) {
        others.emplace_back([&] { send_commands(h, done); });
    }
    others.emplace_back([&] { restart_threads(h, done); });
    bool all_read = true;
    for (std::size_t index = 0; index < uses.size() && all_read; ++index) {
        const std::string name = "device-" + std::to_string(index);
        all_read = h.set(uses[index], name, on_tg_sample) && h.set(uses[index], name, on_own_thread) &&
                   h.set(uses[index], name, on_own_thread) && h.change(h.without(name)) &&
                   h.set(uses[index], name, on_tg_sample) && h.set(uses[index], name, on_own_thread) &&
                   h.change(h.without(name));
    }
    done = true;
    for (std::thread& other : others) {
        other.join();
    }
    h.threads.stop();
    CHECK(all_read);
    for (const DeviceUse& use : uses) {
        CHECK(use.overlaps == 0);
    }
}

TEST_CASE("a change during a stop is completed, and its devices are read after the next start",
          "[device][own][change]") {
    std::array<DeviceUse, 2> uses;
    CrossingHarness h;
    std::thread stopper;
    const auto stop_meanwhile = [&] {
        std::atomic<bool> begins{false};
        stopper = std::thread([&] {
            begins = true;
            h.threads.stop();
        });
        (void)eventually([&] { return begins.load(); });
        ::poll(nullptr, 0, 20);  // stop() is probably waiting by now; otherwise this test checks little
    };
    h.threads.start();
    REQUIRE(h.change(h.to(uses[0], "gone", on_tg_sample, stop_meanwhile)));
    REQUIRE(h.set(uses[1], "bus", on_tg_sample));
    DeviceChange change = h.to(uses[1], "bus", on_own_thread);
    change.removed.emplace_back("gone");
    const auto prepared = h.sampler.prepare(std::move(change));
    CHECK(h.threads.run_change(prepared, long_time));
    stopper.join();
    const int reads = uses[1].reads;
    h.threads.start();
    CHECK(h.is_read(uses[1], reads + 1));
    CHECK(h.sampler.status(*h.sampler.find("bus")).thread == "tg-bus-bus");
}
