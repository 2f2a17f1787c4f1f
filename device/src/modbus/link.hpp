#pragma once

#include "device/cancel_signal.hpp"
#include "modbus/frames.hpp"
#include "modbus/place.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace telegate {
struct ModbusDriverOptions;
}

namespace telegate::modbus {

enum class LinkStatus : std::uint8_t {
    ok,         // with exchange(): the unit has answered, be it with an exception
    cancelled,  // the cancel signal came first
    timed_out,  // no answer in time; the link may go on being used
    mismatch,   // an answer, but not to what was asked; the link may go on being used
    lost,       // the link is closed now
};

struct LinkResult {
    LinkStatus status = LinkStatus::ok;
    std::string what = {};  // with timed_out, mismatch and lost
    Answer answer = {};     // with ok, of exchange(); valid until the next call
};

/// The way to the units: one request at a time, and its answer.
///
/// Threads: the one that reads the device.
/// Limits:  one descriptor. open() and exchange() return within their timeout, and soon after the cancel signal.
/// Failure: as LinkStatus says; out of memory as std::bad_alloc.
class Link {
  public:
    virtual ~Link() = default;
    [[nodiscard]] virtual bool is_open() const noexcept = 0;
    [[nodiscard]] virtual LinkResult open(const CancelSignal* cancel) = 0;
    [[nodiscard]] virtual LinkResult exchange(const Stretch& request, const CancelSignal* cancel) = 0;
    virtual void close() noexcept = 0;
    /// Whether a link on which nothing was answered may be one that leads nowhere any more.
    [[nodiscard]] virtual bool may_be_dead() const noexcept = 0;
};

/// A connection, made without blocking; names are looked up by a thread of their own. Requests are framed here, since
/// libmodbus 3.1.6 either waits for the answer and cannot be cancelled, or gives every request the same transaction.
[[nodiscard]] std::unique_ptr<Link> make_tcp_link(const TcpPlace& place, const ModbusDriverOptions& options);

/// A serial line, which libmodbus opens, sets and sends on.
[[nodiscard]] std::unique_ptr<Link> make_rtu_link(const RtuPlace& place, const ModbusDriverOptions& options);

}  // namespace telegate::modbus
