#pragma once

#include "core/telemetry_sample.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Samples that a log stores, and stores for them. Each sample can be computed on its own, so that every reader is
/// checked against them.
namespace telegate::perf {

/// Channels that are all read at 10 Hz, each hundred of them by a device with times of its own.
struct DataSet {
    std::string name;
    double bytes_goal;  // bytes per sample in the log
    /// Sets type and value of a channel at a tick; `random` differs for each channel and tick.
    void (*set_value)(TelemetrySample& sample, std::size_t channel, std::uint64_t tick, std::uint64_t random);
};

inline constexpr std::int64_t tick_ns = 100'000'000;
inline constexpr std::uint64_t ticks_per_second = 10;
inline constexpr std::int64_t first_utc_ns = 1'767'225'600'000'000'000;

[[nodiscard]] std::vector<DataSet> data_sets();
[[nodiscard]] TelemetrySample sample_of(const DataSet& set, std::size_t channel, std::uint64_t tick);
/// Writes the samples of all channels at a tick.
void make_tick(const DataSet& set, std::uint64_t tick, std::vector<TelemetrySample>& samples);
[[nodiscard]] bool equal(const TelemetrySample& a, const TelemetrySample& b) noexcept;

/// One way to keep samples on disk, in its own folder, for channels with the ids 0 to channels - 1.
///
/// Threads: one. Limits: none. Failure: functions throw std::exception.
class SampleStore {
  public:
    using Each = std::function<void(std::span<const TelemetrySample>)>;

    SampleStore() = default;
    virtual ~SampleStore() = default;
    SampleStore(const SampleStore&) = delete;
    SampleStore& operator=(const SampleStore&) = delete;

    virtual void append(std::span<const TelemetrySample> samples) = 0;
    /// Returns after everything appended is on the disk.
    virtual void sync() = 0;
    /// Passes all samples to `each`, in the order in which they were appended. sync() was called before.
    virtual void read(const Each& each) = 0;
    /// Passes the samples of a channel from `since_ns` to before `until_ns` to `each`, in order.
    virtual void read_channel(std::size_t channel, std::int64_t since_ns, std::int64_t until_ns, const Each& each) = 0;
};

/// The gateway writes the log when this many samples are pending.
inline constexpr std::size_t log_samples_pending_max = 14'336;

/// Opens the durable log of the gateway, and recovers it if it exists. Writes whenever `pending_max` samples are
/// pending.
[[nodiscard]] std::unique_ptr<SampleStore> open_log(const std::string& folder, std::size_t channels,
                                                    std::size_t pending_max = log_samples_pending_max);

/// A store that the log is compared with.
struct OtherStore {
    const char* name;
    std::unique_ptr<SampleStore> (*open)(const std::string& folder);
};

/// Returns the stores to compare with: a file of 64-byte rows and, if perf_tool was built with SQLite, a table with and
/// without an index of channel and time.
[[nodiscard]] std::vector<OtherStore> other_stores();

}  // namespace telegate::perf
