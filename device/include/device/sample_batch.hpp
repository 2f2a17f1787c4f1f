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

/// How far the samples of a channel have been numbered.
struct ChannelSeq {
    ChannelId id;
    std::uint64_t seq = 0;
};

/// One device's channels and the samples of its current tick. The driver adds values; time, channel and sequence
/// number are put on here, so that no driver can get them wrong. What is held back of a channel with processing is
/// counted here; what is made of it, such as an alarm, is a channel here too.
///
/// Threads: the one that reads its device; before go_on_from() any one.
/// Limits:  samples_max samples; a full batch is handed on at once through `on_full` and filling goes on. The same of
///          samples that are held back.
/// Failure: a channel that the table refuses gets no samples; add_channel() answers `none` and add() ignores `none`.
///          The same for one whose name a channel has that is made of another one, and the other way round.
class SampleBatch {
  public:
    static constexpr std::size_t samples_max = 256;

    /// Index of a channel within its device.
    enum class Channel : std::uint32_t { none = 0xFFFF'FFFF };

    SampleBatch(const Clock& clock, ChannelTable& channels, DeviceId device_id, std::string device,
                std::function<void(std::span<const TelemetrySample>)> on_full);
    ~SampleBatch();
    SampleBatch(const SampleBatch&) = delete;
    SampleBatch& operator=(const SampleBatch&) = delete;

    /// Before the first add_channel(): how channels are processed once they are declared, and the callbacks for it.
    void process_with(ProcessingPlan plan, ProcessingObserver observer);

    /// Begins: its channels are numbered on from `before`, which the device's earlier batch has left. With `earlier`,
    /// that batch, their processing continues too: alarms, windows, deadbands, limits and rates keep their state.
    void go_on_from(std::vector<ChannelSeq> before, SampleBatch* earlier = nullptr);
    /// Ends: no channel of it is current. Returns what the next batch of this device is to go on from, which has the
    /// channels of all batches before this one too.
    [[nodiscard]] std::vector<ChannelSeq> retire();

    /// Declares a channel, or finds it again. `name` is made a topic part (to_topic_part). With processing, also the
    /// channels that are made of it, NAME.mean and such.
    Channel add_channel(std::string_view name, std::string_view unit);

    /// Starts a tick: the times that every sample added from now on carries, and whether the clock then is right.
    /// Windows that are over, and alarms whose delay is, are told.
    void begin(std::int64_t time_utc_ns, std::int64_t time_mono_ns) noexcept;
    /// Within a tick: samples added from now on carry other times, such as those that the device gave. How good the
    /// clock is stays as it was.
    void stamp(std::int64_t time_utc_ns, std::int64_t time_mono_ns) noexcept;
    /// The same with the time of now.
    void stamp_now() noexcept;
    [[nodiscard]] const Clock& clock() const noexcept { return clock_; }

    /// NaN and infinities become quality bad without a value.
    void add(Channel channel, double value, Quality quality = Quality::good);
    void add(Channel channel, std::int64_t value, Quality quality = Quality::good);
    void add(Channel channel, bool value, Quality quality = Quality::good);
    /// Text beyond TelemetrySample::text_bytes_max is cut at a UTF-8 boundary and flagged.
    void add(Channel channel, std::string_view text, Quality quality = Quality::good);
    void add(Channel channel, const char* text, Quality quality = Quality::good) = delete;
    /// The value of another sample, with its quality and whether its text was cut. Its time is not copied, nor how good
    /// the clock was.
    void add_copy(Channel channel, const TelemetrySample& of);
    /// No value this time: quality bad, type none.
    void add_absent(Channel channel);
    /// add_absent() for every channel that has had no sample since begin().
    void add_absent_for_missing();

    /// The device, or the kernel for it, lost so many readings before they could be taken.
    void lost_at_source(std::uint64_t count) noexcept { lost_at_source_ += count; }
    [[nodiscard]] std::uint64_t lost_at_source() const noexcept { return lost_at_source_; }
    /// Samples of quality bad so far. A number always has a value, so only samples without one and texts are checked.
    [[nodiscard]] std::uint64_t samples_bad() const noexcept { return samples_bad_; }
    /// Whether something has been added since the last flush().
    [[nodiscard]] bool has_samples() const noexcept { return count_ > 0; }

    /// The device sent a line, a frame or a datagram that was not taken: `why` in words, and how `text`, which may be
    /// any bytes, begins. Keeps the words of the last one; for want of memory those of the one before.
    void refused(std::string_view why, std::string_view text = {}) noexcept;
    /// How many there were, and the words of the last one.
    [[nodiscard]] std::uint64_t refusals() const noexcept { return refusals_; }
    [[nodiscard]] const std::string& last_refused() const noexcept { return last_refused_; }
    /// Is to be called with the words of each one. What it throws is dropped.
    void on_refused(std::function<void(std::string_view)> handler) { on_refused_ = std::move(handler); }

    /// Hands on what is left, and tells what has been held back.
    void flush();

    [[nodiscard]] std::size_t channels() const noexcept { return slots_.size(); }
    /// How often the table had no room for one more, or its name was taken.
    [[nodiscard]] std::size_t channels_refused() const noexcept { return channels_refused_; }
    /// The first name that both the driver and the processing wanted; "": none.
    [[nodiscard]] const std::string& clash() const noexcept { return clash_; }
    [[nodiscard]] DeviceId device_id() const noexcept { return device_id_; }
    [[nodiscard]] const std::string& device() const noexcept { return device_; }

  private:
    class Processing;
    static constexpr std::uint32_t not_processed = 0xFFFF'FFFF;

    struct alignas(32) Slot {  // a power of two: each sample looks one up
        ChannelId id;
        std::uint32_t processed = not_processed;  // its place in Processing
        std::uint64_t seq = 0;
        std::uint64_t tick = 0;  // the last tick with a sample
        bool is_made = false;    // of another channel, by processing
    };

    [[nodiscard]] Channel declare(const std::string& name, std::string_view unit);
    [[nodiscard]] Channel refuse_clash(const std::string& name);
    template <class Value>
    void put(Channel channel, Quality quality, const Value& value);
    TelemetrySample& next(Slot& slot, Quality quality);
    void count_bad(Quality quality) noexcept { samples_bad_ += quality == Quality::bad ? 1 : 0; }
    void begin_channel(Slot& slot);
    void look_at_clock() noexcept;

    const Clock& clock_;
    ChannelTable& channels_;
    const DeviceId device_id_;
    const std::string device_;
    std::function<void(std::span<const TelemetrySample>)> on_full_;
    std::vector<Slot> slots_;
    std::vector<ChannelSeq> past_;            // channels that the device has had and this batch does not have (yet)
    std::unique_ptr<Processing> processing_;  // null while no channel has any
    std::size_t channels_refused_ = 0;
    std::string clash_;
    std::uint64_t lost_at_source_ = 0;
    std::uint64_t refusals_ = 0;
    std::string last_refused_;
    std::function<void(std::string_view)> on_refused_;
    std::uint64_t samples_bad_ = 0;
    bool live_ = false;                                 // begun
    std::size_t count_ = 0;                             // of the samples below
    const std::unique_ptr<TelemetrySample[]> samples_;  // samples_max
    std::int64_t time_utc_ns_ = 0;
    std::int64_t time_mono_ns_ = 0;
    std::uint8_t time_flags_ = 0;  // of sample_flag
    std::uint64_t tick_ = 0;
};

}  // namespace telegate
