#pragma once

#include "device/cancel_signal.hpp"
#include "modbus/frames.hpp"
#include "network/host_finder.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace telegate {
struct ModbusDriverOptions;
}

namespace telegate::modbus {

using TcpPlace = network::HostPort;
struct RtuPlace {
    std::string path;
};
using Place = std::variant<TcpPlace, RtuPlace>;

/// Parses `tcp://HOST`, `tcp://HOST:PORT`, `tcp://[IPV6]:PORT` or `rtu:///PATH`. Throws std::invalid_argument for any
/// other text.
[[nodiscard]] Place parse_place(std::string_view endpoint);

enum class LinkStatus : std::uint8_t {
    ok,         // for exchange(): the unit has responded, possibly with an exception
    canceled,   // the cancel signal was set
    timed_out,  // no response in time; the link can still be used
    mismatch,   // a response that does not match the request; the link can still be used
    lost,       // the link is now closed
};

struct LinkResult {
    LinkStatus status = LinkStatus::ok;
    std::string what = {};  // for timed_out, mismatch and lost
    Answer answer = {};     // for ok of exchange(); valid until the next call
};

/// A connection to the units. It sends one request at a time and receives its response.
///
/// Threads: the one that reads the device.
/// Limits: one descriptor. open() and exchange() return within their timeout, and soon after the cancel signal.
/// Failure: see LinkStatus; std::bad_alloc if memory is exhausted.
class Link {
  public:
    virtual ~Link() = default;
    [[nodiscard]] virtual bool is_open() const noexcept = 0;
    [[nodiscard]] virtual LinkResult open(const CancelSignal* cancel) = 0;
    [[nodiscard]] virtual LinkResult exchange(const AddressRange& request, const CancelSignal* cancel) = 0;
    virtual void close() noexcept = 0;
    /// Returns whether a link without any response may be dead, so that it should be opened again.
    [[nodiscard]] virtual bool may_be_dead() const noexcept = 0;
};

/// Creates a TCP connection without blocking; a separate thread looks up names. Requests are framed here because
/// libmodbus 3.1.6 either blocks for the response and cannot be canceled, or gives all requests the same transaction
/// number.
[[nodiscard]] std::unique_ptr<Link> make_tcp_link(const TcpPlace& place, const ModbusDriverOptions& options);

/// Creates a link over a serial line, which libmodbus opens, configures and writes to.
[[nodiscard]] std::unique_ptr<Link> make_rtu_link(const RtuPlace& place, const ModbusDriverOptions& options);

}  // namespace telegate::modbus
