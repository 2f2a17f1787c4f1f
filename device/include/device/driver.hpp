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

/// Outcome of one Driver::read().
struct ReadResult {
    enum class Status : std::uint8_t {
        ok,           // what the batch holds is what the device said; also when it had nothing to say
        failed,       // the device answered with an error, or not at all in its time
        interrupted,  // the cancel signal came first; what the batch holds is good, what is missing was not asked for
    };
    Status status = Status::ok;
    /// What went wrong, in a few words that name the place and the value, such as "/dev/ttyUSB0: No such file or
    /// directory"; for ok: with a part of it. Valid until the next call of the driver.
    std::string_view what = {};
};

/// How a device is read.
struct DriverTraits {
    /// read() may wait for its device, so the device has a thread of its own (tg-bus-NAME). Otherwise it is read on
    /// tg-sample, among others, and read() must not block.
    bool own_thread = false;
    /// The device speaks of its own accord: read() is called again at once, waits for what comes, for wait_max at most,
    /// and there are no deadlines to be late for. Only with own_thread. Otherwise read() is called at the interval.
    bool streams = false;
    /// The device loses nothing by waiting, as a recording does: while the queue is full its samples wait for room.
    /// Only with own_thread.
    bool waits_for_room = false;
};

/// Something that a device needs and that is not there now, such as its tty.
struct MissingPart {
    std::string_view option;  // that names it; a literal
    std::string what;         // which it is, and what the system says
};

/// One kind of device. Implementations sit in one file each; the sampler owns time, sequence numbers and state.
///
/// Threads: the constructor, traits(), cancel_with() and open() on the one that prepares the device; all else on the
///          thread that reads it. The destructor on any, when nobody else has it.
/// Limits:  once its channels are known read() must not allocate per sample. On tg-sample it must not block. On a
///          thread of its own it returns within the device's own deadline, of a few seconds at most, and within some
///          milliseconds once the cancel signal is set.
/// Failure: the constructor throws OptionError for bad options; its problem names the value and what is allowed. It
///          does not need the device: nothing outside is opened before read(). read() reports with its result and never
///          throws. A field that is absent is a channel of quality bad, not a failed read.
class Driver {
  public:
    /// What read() of a device that streams waits for at most before it returns with nothing.
    static constexpr Duration wait_max = std::chrono::seconds(1);

    virtual ~Driver() = default;

    [[nodiscard]] virtual DriverTraits traits() const noexcept { return {}; }
    /// Comes before the first read() of a driver with a thread of its own; the signal outlives the driver.
    virtual void cancel_with(const CancelSignal& /*signal*/) noexcept {}
    /// Declares the channels that exist from the start. More may be declared by read() (hot plug).
    virtual void open(SampleBatch& batch) = 0;
    /// Returns the names of the channels that read() may declare beside those of open(), where one * in a name stands
    /// for any text; none when open() declares all. nullopt: only the device knows its channels.
    [[nodiscard]] virtual std::optional<std::vector<std::string>> later_channels() const { return std::nullopt; }
    /// Returns what read() would lack now. Looks at this machine only: opens no device and sends nothing to one. A host
    /// name is looked up for lookup_max.
    [[nodiscard]] virtual std::vector<MissingPart> missing_parts() const { return {}; }
    static constexpr Duration lookup_max = std::chrono::seconds(2);

    /// Adds this tick's readings to `batch`, at most once per channel unless the device really said more. After a wait
    /// SampleBatch::stamp_now() comes first, so that the samples carry the time when they came.
    virtual ReadResult read(SampleBatch& batch, MonoTime now) noexcept = 0;
    /// Brings the device back to how it was after open(): faults cleared, generators restarted where they can be.
    virtual void reset() noexcept = 0;
    /// The last call: the device goes, or another driver takes it over. What the device still holds is lost with it;
    /// SampleBatch::lost_at_source() says how much. Adds no samples.
    virtual void close(SampleBatch& /*batch*/) noexcept {}
};

}  // namespace telegate
