#pragma once

#include "capture_times.hpp"

#include "device/driver.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telegate::perf {

/// What a LoadDriver is to offer.
struct Load {
    std::uint64_t rate = 0;     // samples per second
    std::uint64_t samples = 0;  // in all; then it gives no more
    std::size_t channels = 1;   // 1 to channels_max, taken in turn
};

/// What a LoadDriver has done. Threads: the sampling thread writes, any reads; what it reads is of one moment when
/// `given` stands still.
struct LoadProgress {
    std::atomic<std::uint64_t> given{0};
    std::atomic<std::int64_t> first_mono_ns{0};
    std::atomic<std::int64_t> last_mono_ns{0};
};

/// Channels are named c0000 to c9999, so that a topic has its number at a fixed place.
inline constexpr std::size_t channels_max = 10'000;
inline constexpr const char* load_device = "load";
[[nodiscard]] std::string channel_name(std::size_t channel);

/// A device that gives as many samples at each tick as its rate asks for by then: what a late tick did not give, the
/// next ones make up for, each with up to twice its share. The channels take turns, so sample number i of all is number
/// i / channels of channel i % channels.
///
/// Threads: as Driver says. `times` and `progress` outlive it.
/// Limits:  the ticks that `times` has room for; after them it gives nothing.
/// Failure: none.
class LoadDriver final : public Driver {
  public:
    LoadDriver(Load load, MonoTime::duration interval, CaptureTimes& times, LoadProgress& progress);

    void open(SampleBatch& batch) override;
    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override;
    void reset() noexcept override {}

  private:
    [[nodiscard]] std::uint64_t owed(MonoTime now);

    const Load load_;
    const std::uint64_t samples_per_tick_max_;
    CaptureTimes& times_;
    LoadProgress& progress_;
    std::optional<MonoTime> started_;
    std::uint64_t given_ = 0;
    std::size_t next_channel_ = 0;
    std::vector<SampleBatch::Channel> channels_;
};

}  // namespace telegate::perf
