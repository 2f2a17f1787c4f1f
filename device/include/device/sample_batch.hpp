#pragma once

#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/telemetry_sample.hpp"
#include "device/processing.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// The last sequence number of a channel.
struct ChannelSeq {
    ChannelId id;
    std::uint64_t seq = 0;
};

/// The channels of one device, and the samples of its current tick. The driver adds values; the batch adds time,
/// channel and sequence number, so a driver cannot get them wrong. Samples that processing suppresses are counted here,
/// and channels derived by processing, such as an alarm, are channels of the batch too.
///
/// Threads: the one that reads the device; before go_on_from(), any one thread.
/// Limits: samples_max samples; a full batch is handed over immediately through `on_full`, and filling continues.
/// Suppressed samples have a limit of their own.
/// Failure: a channel that the table refuses gets no samples: add_channel() returns `none`, and add() ignores `none`.
/// The same applies to a channel with the name of a derived channel, and the other way around.
class SampleBatch {
  public:
    static constexpr std::size_t samples_max = 256;

    /// Index of a channel within its device.
    enum class Channel : std::uint32_t { none = 0xFFFF'FFFF };

    /// The device whose channels these are.
    struct OfDevice {
        DeviceId id;
        std::string name;
    };

    SampleBatch(const Clock& clock, ChannelTable& channels, OfDevice device,
                std::function<void(std::span<const TelemetrySample>)> on_full);
    ~SampleBatch();
    SampleBatch(const SampleBatch&) = delete;
    SampleBatch& operator=(const SampleBatch&) = delete;

    /// Sets how channels are processed once they are declared, and the callbacks. Call it before the first
    /// add_channel().
    void process_with(ProcessingPlan plan, ProcessingObserver observer);

    /// Begins the batch. Its channels continue the numbers in `before`, which retire() of the previous batch returned.
    /// If `earlier` is that batch, processing also keeps its state: alarms, windows, deadbands, limits and rates.
    void go_on_from(std::vector<ChannelSeq> before, SampleBatch* earlier = nullptr);
    /// Ends the batch: its channels are no longer current. Returns the numbers for the next batch of this device,
    /// including the channels of all earlier batches.
    [[nodiscard]] std::vector<ChannelSeq> retire();

    /// Declares a channel, or finds an existing one. `name` is converted to a topic part (to_topic_part). With
    /// processing, also declares the derived channels, such as NAME.mean.
    Channel add_channel(std::string_view name, std::string_view unit);

    /// Returns whether the device has, or had, a channel of this name.
    [[nodiscard]] bool has_channel(std::string_view name) const {
        return channels_.find(device_.name + '/' + std::string(name)).has_value();
    }

    /// Begins a tick. Sets the times for all samples that are added from now on, and checks whether the clock is
    /// synchronized. Reports windows that have ended and alarms whose delay has passed.
    void begin(std::int64_t time_utc_ns, std::int64_t time_mono_ns) noexcept;
    /// Sets other times within a tick, such as those from the device, for samples that are added from now on. The clock
    /// is not checked again.
    void stamp(std::int64_t time_utc_ns, std::int64_t time_mono_ns) noexcept;
    /// Sets a time that the sender has given, on a clock that is not this machine's: rates, windows, alarms and rate
    /// limits use `given.utc_ns`. `arrival_mono_ns` is when the data arrived.
    void stamp_given(const ClockPair& given, std::int64_t arrival_mono_ns) noexcept;
    /// Sets the current time for samples that are added from now on, and checks the clock.
    void stamp_now() noexcept;
    [[nodiscard]] const Clock& clock() const noexcept { return clock_; }

    /// NaN and infinity become quality bad without a value.
    void add(Channel channel, double value, Quality quality = Quality::good);
    void add(Channel channel, std::int64_t value, Quality quality = Quality::good);
    void add(Channel channel, bool value, Quality quality = Quality::good);
    /// Longer texts than TelemetrySample::text_bytes_max are truncated at a UTF-8 boundary and flagged.
    void add(Channel channel, std::string_view text, Quality quality = Quality::good);
    void add(Channel channel, const char* text, Quality quality = Quality::good) = delete;
    /// Adds the value and quality of another sample, and whether its text was truncated. Its time and clock state are
    /// not copied.
    void add_copy(Channel channel, const TelemetrySample& of);
    /// Adds a sample without a value: quality bad, type none.
    void add_absent(Channel channel);
    /// Calls add_absent() for every channel that has had no sample since begin().
    void add_absent_for_missing();

    /// Counts readings that the device, or the kernel on its behalf, lost before they were read.
    void lost_at_source(std::uint64_t count) noexcept { lost_at_source_ += count; }
    [[nodiscard]] std::uint64_t lost_at_source() const noexcept { return lost_at_source_; }
    /// Returns the number of samples with quality bad so far. Only samples without a value and texts are checked,
    /// because a number always has a value.
    [[nodiscard]] std::uint64_t samples_bad() const noexcept { return samples_bad_; }
    /// Returns whether samples have been added since the last flush().
    [[nodiscard]] bool has_samples() const noexcept { return count_ > 0; }

    /// Counts a line, frame or datagram that was refused. `why` is the reason, and `text` (any bytes) the refused data,
    /// of which the beginning is stored. Stores the reason for the last one.
    void refused(std::string_view why, std::string_view text = {}) noexcept;
    /// Return the number of refusals, and the reason for the last one.
    [[nodiscard]] std::uint64_t refusals() const noexcept { return refusals_; }
    [[nodiscard]] const std::string& last_refused() const noexcept { return last_refused_; }
    /// Sets a handler that is called with the reason for each refusal. Exceptions of the handler are ignored.
    void on_refused(std::function<void(std::string_view)> handler) { on_refused_ = std::move(handler); }

    /// Hands over the remaining samples and reports suppressed samples.
    void flush();

    [[nodiscard]] std::size_t channels() const noexcept { return slots_.size(); }
    /// Returns how often a channel was refused because the table was full or its name was taken.
    [[nodiscard]] std::size_t channels_refused() const noexcept { return channels_refused_; }
    /// Returns the first name that both the driver and processing declared; "": none.
    [[nodiscard]] const std::string& clash() const noexcept { return clash_; }
    [[nodiscard]] DeviceId device_id() const noexcept { return device_.id; }
    [[nodiscard]] const std::string& device() const noexcept { return device_.name; }

  private:
    class Processing;
    static constexpr std::uint32_t not_processed = 0xFFFF'FFFF;

    struct alignas(32) Slot {  // a power of two, because each sample looks one up
        ChannelId id;
        std::uint32_t processed = not_processed;  // its index in Processing
        std::uint64_t seq = 0;
        std::uint64_t tick = 0;  // the last tick with a sample
        bool is_made = false;    // derived by processing
    };

    [[nodiscard]] Channel declare(const std::string& name, std::string_view unit);
    [[nodiscard]] Channel refuse_clash(const std::string& name);
    template <class Value>
    void put(Channel channel, Quality quality, const Value& value);
    TelemetrySample& next(Slot& slot, Quality quality);
    void count_bad(Quality quality) noexcept { samples_bad_ += quality == Quality::bad ? 1 : 0; }
    void begin_channel(Slot& slot);
    void read_clock() noexcept;

    const Clock& clock_;
    ChannelTable& channels_;
    const OfDevice device_;
    std::function<void(std::span<const TelemetrySample>)> on_full_;
    std::vector<Slot> slots_;
    std::vector<ChannelSeq> past_;            // channels of earlier batches that this batch has not declared (yet)
    std::unique_ptr<Processing> processing_;  // null while no channel is processed
    std::size_t channels_refused_ = 0;
    std::string clash_;
    std::uint64_t lost_at_source_ = 0;
    std::uint64_t refusals_ = 0;
    std::string last_refused_;
    std::function<void(std::string_view)> on_refused_;
    std::uint64_t samples_bad_ = 0;
    bool live_ = false;                                 // go_on_from() was called
    std::size_t count_ = 0;                             // number of samples in samples_
    const std::unique_ptr<TelemetrySample[]> samples_;  // samples_max
    std::int64_t time_utc_ns_ = 0;
    std::int64_t time_mono_ns_ = 0;
    std::int64_t reading_ns_ = 0;  // the time for processing: time_mono_ns_, or a given time_utc_ns_
    std::int64_t arrival_ns_ = 0;  // monotonic
    bool is_time_given_ = false;
    std::uint8_t time_flags_ = 0;  // of sample_flag
    std::uint64_t tick_ = 0;
};

}  // namespace telegate
