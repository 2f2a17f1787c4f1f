#pragma once

#include "device/recording/recording_reader.hpp"
#include "device/sample_batch.hpp"
#include "host/channel_names.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::replay {

/// The channel names of recorded channels. Each topic has its own name, the same in every pass.
///
/// Threads: one.
/// Limits: names_max, which is the capacity of a channel table.
/// Failure: name_of() may throw std::bad_alloc, and returns "" beyond the limit.
class ChannelNames {
  public:
    static constexpr std::size_t names_max = ChannelTable::channels_max;

    explicit ChannelNames(bool with_device) noexcept : with_device_(with_device) {}
    [[nodiscard]] std::string_view name_of(const recording::Channel& channel);

  private:
    const bool with_device_;
    std::map<std::string, std::string, std::less<>> names_;  // by topic
    host::FreeNames free_;
};

/// Reads the samples of a recording one by one, of one device or of all devices. A recording is a directory of segments
/// (docs/log-format.md), or a file of format version 1.
///
/// Threads: one.
/// Limits: next() reads at most one block, or records_per_step records; channels have ids below
/// ChannelTable::channels_max. Failure: next() returns Step::failed or Step::damaged; it may throw std::bad_alloc.
class RecordedSamples {
  public:
    /// 4 MiB with records of the maximum size, which takes a few milliseconds.
    static constexpr std::size_t records_per_step = 64;

    /// `source` is the device whose samples are read; "": all devices.
    explicit RecordedSamples(std::string source);
    ~RecordedSamples();

    enum class Step : std::uint8_t {
        sample,     // sample() is the next sample
        searching,  // no sample in this step, or searching after damage; call again
        damaged,    // fault() says what and where; next() continues
        end,
        failed,  // fault() says why the file cannot be read; next() tries again from the beginning
    };
    /// Adds the channels to `batch` when they are found.
    [[nodiscard]] Step next(const std::string& file, SampleBatch& batch);

    [[nodiscard]] const TelemetrySample& sample() const noexcept { return sample_; }
    [[nodiscard]] SampleBatch::Channel channel() const noexcept { return channel_; }
    /// Returns the number of recorders so far. Monotonic times of different recorders are unrelated.
    [[nodiscard]] std::uint64_t recorders() const noexcept { return recorders_; }
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

    /// Starts again at the first sample.
    void rewind() noexcept;

  private:
    struct File;
    struct Log;
    struct Slot {
        bool is_declared = false;
        bool is_wanted = false;
        SampleBatch::Channel channel = SampleBatch::Channel::none;

        [[nodiscard]] bool is_beyond_limit() const noexcept {
            return is_wanted && channel == SampleBatch::Channel::none;
        }
    };
    [[nodiscard]] bool open(const std::string& file);
    [[nodiscard]] Step next_of_log(const std::string& file, SampleBatch& batch);
    [[nodiscard]] Step next_of_file(const std::string& file, SampleBatch& batch);
    [[nodiscard]] bool take_sample();
    [[nodiscard]] bool note_record(const recording::Record& record, SampleBatch& batch);
    [[nodiscard]] Slot declare(const recording::Channel& channel, SampleBatch& batch);
    [[nodiscard]] Step fail_at_limit(std::string_view file);
    [[nodiscard]] Step fail(std::string_view file, std::string_view what, Step step);

    const std::string source_;
    ChannelNames names_;
    std::unique_ptr<Log> log_;
    std::unique_ptr<File> file_;      // of version 1; null as well as log_: not open
    std::vector<Slot> slots_;         // of file_: indexed by recorded id
    recording::Samples samples_{{}};  // of the current record
    std::size_t next_sample_ = 0;     // index in samples_ or in the block of log_
    std::uint32_t undeclared_ = 0;    // samples of the current record whose channel was not declared
    TelemetrySample sample_{};
    SampleBatch::Channel channel_ = SampleBatch::Channel::none;
    std::uint64_t recorders_ = 0;
    std::string fault_;
};

}  // namespace telegate::replay
