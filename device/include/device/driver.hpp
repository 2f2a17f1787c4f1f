#pragma once

#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "device/sample_batch.hpp"

#include <cstdint>
#include <string_view>

namespace telegate {

/// Outcome of one Driver::read().
struct ReadResult {
    enum class Status : std::uint8_t {
        ok,      // what the batch holds is what the device said
        failed,  // the device answered with an error, or not at all in its time
    };
    Status status = Status::ok;
    /// For failed: what went wrong, in a few words. Must outlive the driver (a literal).
    const char* what = "";
};

/// One kind of device. Implementations sit in one file each; the sampler owns time, sequence numbers and state.
///
/// Threads: the constructor and open() on the one that prepares the device; all else on the sampling thread.
///          The destructor on either.
/// Limits:  read() must not block and, once its channels are known, must not allocate.
/// Failure: the constructor throws on bad options; read() reports with its result and never throws. A field that is
///          absent is a channel of quality bad, not a failed read.
class Driver {
  public:
    virtual ~Driver() = default;

    /// Declares the channels that exist from the start. More may be declared by read() (hot plug).
    virtual void open(SampleBatch& batch) = 0;
    /// Adds this tick's readings to `batch`, at most once per channel unless the device really said more.
    virtual ReadResult read(SampleBatch& batch, MonoTime now) noexcept = 0;
    /// Brings the device back to how it was after open(): faults cleared, generators restarted where they can be.
    virtual void reset() noexcept = 0;
};

}  // namespace telegate
