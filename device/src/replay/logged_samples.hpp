#pragma once

#include "device/sample_batch.hpp"
#include "host/channel_names.hpp"
#include "store/segment_format.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace telegate::replay {

/// The channel names of logged channels. Each topic has its own name, the same in every pass.
///
/// Threads: one.
/// Limits: names_max, which is the capacity of a channel table.
/// Failure: name_of() may throw std::bad_alloc, and returns "" beyond the limit.
class ChannelNames {
  public:
    static constexpr std::size_t names_max = ChannelTable::channels_max;

    explicit ChannelNames(bool with_device) noexcept : with_device_(with_device) {}
    [[nodiscard]] std::string_view name_of(const store::SegmentChannel& channel);

  private:
    const bool with_device_;
    std::map<std::string, std::string, std::less<>> names_;  // by topic
    host::FreeNames free_;
};

/// Returns why the path is not the directory of a log, as far as that is known without reading segments; "" if it is.
[[nodiscard]] std::string log_fault(const std::string& directory);

/// Reads the samples of a log (docs/log-format.md) one by one, of one device or of all devices.
///
/// Threads: one.
/// Limits: next() reads at most one block; names_max channels.
/// Failure: next() returns Step::failed or Step::damaged; it may throw std::bad_alloc.
class LoggedSamples {
  public:
    /// `source` is the device whose samples are read; "": all devices.
    LoggedSamples(std::string directory, std::string source);
    ~LoggedSamples();

    enum class Step : std::uint8_t {
        sample,   // sample() is the next sample
        nothing,  // no sample in this step; call again
        damaged,  // fault() says what and where; next() continues
        end,
        failed,  // fault() says why the log cannot be read; next() tries again from the beginning
    };
    /// Adds channels to `batch` with their first sample.
    [[nodiscard]] Step next(SampleBatch& batch);

    [[nodiscard]] const TelemetrySample& sample() const noexcept { return sample_; }
    [[nodiscard]] SampleBatch::Channel channel() const noexcept { return channel_; }
    /// Returns the number of runs of a gateway so far. Monotonic times of different runs are unrelated.
    [[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

    /// Starts again at the first sample.
    void rewind() noexcept;

  private:
    struct Log;
    struct Slot {
        bool is_wanted = false;
        SampleBatch::Channel channel = SampleBatch::Channel::none;
    };
    [[nodiscard]] Step read(SampleBatch& batch);
    [[nodiscard]] Slot declare(const store::SegmentChannel& channel, SampleBatch& batch);
    [[nodiscard]] Step fail(std::string_view what, Step step);

    const std::string directory_;
    const std::string source_;
    ChannelNames names_;
    std::unique_ptr<Log> log_;     // null: not open
    std::size_t next_sample_ = 0;  // index in the block of log_
    TelemetrySample sample_{};
    SampleBatch::Channel channel_ = SampleBatch::Channel::none;
    std::uint64_t runs_ = 0;
    std::string fault_;
};

}  // namespace telegate::replay
