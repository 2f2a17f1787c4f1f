#pragma once

#include "core/channel_table.hpp"
#include "core/telemetry_sample.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// How far the samples of a channel have been numbered.
struct ChannelSeq {
    ChannelId id;
    std::uint64_t seq = 0;
};

/// One device's channels and the samples of its current tick. The driver adds values; time, channel and sequence
/// number are put on here, so that no driver can get them wrong.
///
/// Threads: the sampling thread of its device; before go_on_from() any one.
/// Limits:  samples_max samples; a full batch is handed on at once through `on_full` and filling goes on.
/// Failure: a channel that the table refuses gets no samples; add_channel() answers `none` and add() ignores `none`.
class SampleBatch {
  public:
    static constexpr std::size_t samples_max = 256;

    /// Index of a channel within its device.
    enum class Channel : std::uint32_t { none = 0xFFFF'FFFF };

    SampleBatch(ChannelTable& channels, DeviceId device_id, std::string device,
                std::function<void(std::span<const TelemetrySample>)> on_full);

    /// Begins: its channels are numbered on from `before`, which the device's earlier batch has left.
    void go_on_from(std::vector<ChannelSeq> before);
    /// Ends: no channel of it is current. Returns what the next batch of this device is to go on from, which has the
    /// channels of all batches before this one too.
    [[nodiscard]] std::vector<ChannelSeq> retire();

    /// Declares a channel, or finds it again. `name` is made a topic part (to_topic_part).
    Channel add_channel(std::string_view name, std::string_view unit);

    /// Starts a tick: the times that every sample added from now on carries.
    void begin(std::int64_t time_utc_ns, std::int64_t time_mono_ns) noexcept;

    /// NaN and infinities become quality bad without a value.
    void add(Channel channel, double value, Quality quality = Quality::good);
    void add(Channel channel, std::int64_t value, Quality quality = Quality::good);
    void add(Channel channel, bool value, Quality quality = Quality::good);
    /// Text beyond TelemetrySample::text_bytes_max is cut at a UTF-8 boundary and flagged.
    void add(Channel channel, std::string_view text, Quality quality = Quality::good);
    void add(Channel channel, const char* text, Quality quality = Quality::good) = delete;
    /// No value this time: quality bad, type none.
    void add_absent(Channel channel);
    /// add_absent() for every channel that has had no sample since begin().
    void add_absent_for_missing();

    /// Hands on what is left.
    void flush();

    [[nodiscard]] std::size_t channels() const noexcept { return slots_.size(); }
    /// How often the table had no room for one more.
    [[nodiscard]] std::size_t channels_refused() const noexcept { return channels_refused_; }
    [[nodiscard]] DeviceId device_id() const noexcept { return device_id_; }
    [[nodiscard]] const std::string& device() const noexcept { return device_; }

  private:
    struct alignas(32) Slot {  // a power of two: each sample looks one up
        ChannelId id;
        std::uint64_t seq = 0;
        std::uint64_t tick = 0;  // the last tick with a sample
    };

    TelemetrySample* next(Channel channel, Quality quality);
    void begin_channel(Slot& slot);

    ChannelTable& channels_;
    const DeviceId device_id_;
    const std::string device_;
    std::function<void(std::span<const TelemetrySample>)> on_full_;
    std::vector<Slot> slots_;
    std::vector<ChannelSeq> past_;  // channels that the device has had and this batch does not have (yet)
    std::size_t channels_refused_ = 0;
    bool live_ = false;                                 // begun
    std::size_t count_ = 0;                             // of the samples below
    const std::unique_ptr<TelemetrySample[]> samples_;  // samples_max
    std::int64_t time_utc_ns_ = 0;
    std::int64_t time_mono_ns_ = 0;
    std::uint64_t tick_ = 0;
};

}  // namespace telegate
