#pragma once

#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "device/cancel_signal.hpp"
#include "device/sample_batch.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The result of one Driver::read().
struct ReadResult {
    enum class Status : std::uint8_t {
        ok,      // the batch holds what the device sent, which may be nothing
        failed,  // the device reported an error, or did not respond in time
        // the cancel signal was set first; the batch holds good samples, and the missing ones were not requested
        interrupted,
    };
    Status status = Status::ok;
    /// Describes the error in a few words that name the place and the value, such as "/dev/ttyUSB0: No such file or
    /// directory"; with ok, an error of a part of the device. Valid until the next call of the driver.
    std::string_view what = {};
};

/// How a device is read.
struct DriverTraits {
    /// read() may wait for the device, so the device has its own thread (tg-bus-NAME). Otherwise the device is read on
    /// tg-sample, together with others, and read() must not block.
    bool own_thread = false;
    /// The device sends data on its own: read() is called again immediately and waits for data for at most wait_max,
    /// and there are no deadlines. Requires own_thread. Otherwise read() is called at the interval.
    bool streams = false;
    /// The device loses nothing by waiting, such as a log that is played: while the queue is full, its samples wait for
    /// capacity. Requires own_thread.
    bool waits_for_room = false;
};

/// Something that a device needs and that is missing now, such as its tty.
struct MissingPart {
    std::string_view option;  // the option that names it; a literal
    std::string what;         // the missing part, and the error of the system
};

/// A kind of device. The driver only reads values; the sampler assigns times, sequence numbers and states.
///
/// Threads: the constructor, traits(), cancel_with() and open() run on the thread that prepares the device; everything
/// else runs on the thread that reads it. The destructor runs on any thread once nothing else uses the driver.
/// Limits: once its channels are known, read() must not allocate per sample. On tg-sample it must not block. On its own
/// thread it must return within the timeout of the device, at most a few seconds, and within milliseconds once the
/// cancel signal is set.
/// Failure: the constructor throws OptionError for invalid options; its problem names the value and what is allowed.
/// The constructor does not need the device: nothing is opened before read(). read() returns errors in its result and
/// never throws. A missing field is a sample with quality bad, not a failed reading.
class Driver {
  public:
    /// The longest time for which read() of a streaming device waits for data.
    static constexpr Duration wait_max = std::chrono::seconds(1);

    virtual ~Driver() = default;

    [[nodiscard]] virtual DriverTraits traits() const noexcept { return {}; }
    /// Sets the cancel signal of a driver with its own thread, before the first read(). The signal outlives the driver.
    virtual void cancel_with(const CancelSignal& /*signal*/) noexcept {}
    /// Declares the channels that exist from the start. read() may declare more (hot plug).
    virtual void open(SampleBatch& batch) = 0;
    /// Returns the names of the channels that read() may declare in addition to those of open(), where one * in a name
    /// matches any text. Empty if open() declares all channels; nullopt if only the device knows its channels.
    [[nodiscard]] virtual std::optional<std::vector<std::string>> later_channels() const { return std::nullopt; }
    /// Returns what read() would be missing now. Checks this machine only: opens no device and sends nothing to it.
    /// Resolving a host name takes at most lookup_max.
    [[nodiscard]] virtual std::vector<MissingPart> missing_parts() const { return {}; }
    static constexpr Duration lookup_max = std::chrono::seconds(2);

    /// Adds the readings of this tick to `batch`, at most one per channel unless the device sent more. After waiting,
    /// call SampleBatch::stamp_now() first, so the samples carry their time of arrival.
    virtual ReadResult read(SampleBatch& batch, MonoTime now) noexcept = 0;
    /// Restores the state after open(): clears faults and restarts generators where possible.
    virtual void reset() noexcept = 0;
    /// Ends the driver because the device is removed or gets another driver. Adds no samples; reports unread data of
    /// the device with SampleBatch::lost_at_source().
    virtual void close(SampleBatch& /*batch*/) noexcept {}
};

}  // namespace telegate
