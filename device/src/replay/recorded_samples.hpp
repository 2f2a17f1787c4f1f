#pragma once

#include "device/recording/recording_reader.hpp"
#include "device/sample_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::replay {

/// What recorded channels are called when they are played: each topic has a name of its own, the same in every pass.
///
/// Threads: one.
/// Limits:  names_max, as many as a channel table has.
/// Failure: name_of() may throw std::bad_alloc, and gives "" beyond the limit.
class ChannelNames {
  public:
    static constexpr std::size_t names_max = ChannelTable::channels_max;

    explicit ChannelNames(bool with_device) noexcept : with_device_(with_device) {}
    [[nodiscard]] std::string_view name_of(const recording::Channel& channel);

  private:
    const bool with_device_;
    std::map<std::string, std::string, std::less<>> names_;  // by topic
    std::set<std::string, std::less<>> taken_;
};

/// The samples of a recording one by one, of one device or of all.
///
/// Threads: one.
/// Limits:  next() reads records_per_step records at most; channels have ids below ChannelTable::channels_max.
/// Failure: next() says so; it may throw std::bad_alloc.
class RecordedSamples {
  public:
    /// With records of the largest size 4 MiB, some milliseconds.
    static constexpr std::size_t records_per_step = 64;

    /// `source`: the device whose samples are wanted; "" for all.
    explicit RecordedSamples(std::string source);
    ~RecordedSamples();

    enum class Step : std::uint8_t {
        sample,     // sample() is the next one
        searching,  // there was none in so many records, or bytes behind a damage; there may be more
        damaged,    // fault() says what and where; next() goes on
        end,
        failed,  // fault() says why the file cannot be read; the next one tries again from its beginning
    };
    /// `batch` gets the channels as they are met.
    [[nodiscard]] Step next(const std::string& file, SampleBatch& batch);

    [[nodiscard]] const TelemetrySample& sample() const noexcept { return sample_; }
    [[nodiscard]] SampleBatch::Channel channel() const noexcept { return channel_; }
    /// Counts the recorders that have begun so far: monotonic times of two of them have nothing to do with each other.
    [[nodiscard]] std::uint64_t recorders() const noexcept { return recorders_; }
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

    /// The next sample is the first one again.
    void rewind() noexcept;

  private:
    struct File;
    struct Slot {
        bool is_declared = false;
        bool is_wanted = false;
        SampleBatch::Channel channel = SampleBatch::Channel::none;
    };
    [[nodiscard]] bool open(const std::string& file);
    [[nodiscard]] bool take_sample();
    [[nodiscard]] bool note_record(const recording::Record& record, SampleBatch& batch);
    [[nodiscard]] bool declare(const recording::Channel& channel, SampleBatch& batch);
    [[nodiscard]] Step fail(std::string_view file, std::string_view what, Step step);

    const std::string source_;
    ChannelNames names_;
    std::unique_ptr<File> file_;      // null: not open
    std::vector<Slot> slots_;         // by recorded id
    recording::Samples samples_{{}};  // of the present record
    std::size_t next_sample_ = 0;     // in it
    std::uint32_t undeclared_ = 0;    // samples of it whose channel nobody has declared
    TelemetrySample sample_{};
    SampleBatch::Channel channel_ = SampleBatch::Channel::none;
    std::uint64_t recorders_ = 0;
    std::string fault_;
};

}  // namespace telegate::replay
