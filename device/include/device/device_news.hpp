#pragma once

#include "core/clock.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace telegate {

/// The state of a device.
enum class DeviceState : std::uint8_t {
    idle,       // stopped: not read
    measuring,  // read at its interval; the last reading succeeded
    error,      // read at its interval; the last reading failed
    safe,       // failed too often in a row: not read until it is reset
};

[[nodiscard]] std::string_view to_string(DeviceState state) noexcept;

/// The transitions of a device.
enum class DeviceTransition : std::uint8_t {
    failed,          // measuring -> error or safe
    recovered,       // error -> measuring
    safe,            // failed too often in a row; not read until it is reset
    breaker_opened,  // closed -> open; not reported for failed attempts after that
    breaker_closed,  // the attempt after a wait succeeded
    started,         // a command that changed the state
    stopped,
    reset,
    added,    // the set of devices changed
    changed,  // the device has another driver; ends the outage of the previous one
    removed,
};

/// One transition of one device. Members that do not apply to the transition are zero or empty.
struct DeviceNews {
    DeviceTransition transition = DeviceTransition::failed;
    std::string_view device = {};  // `device` and `why` are valid during the call
    std::int64_t time_utc_ns = 0;
    std::string_view why = {};         // failed, safe, breaker_opened: the error of the last reading
    Duration outage{0};                // recovered: since the first failed reading
    std::uint64_t reads_failed = 0;    // recovered, safe, breaker_opened: during this outage
    std::uint64_t samples_missed = 0;  // recovered: bad samples, plus those of readings that were skipped
    Duration retry_after{0};           // breaker_opened
};

/// Receives transitions. Called on the thread that reads the device, between two readings, so it must return quickly
/// and must not throw. Never called for a sample.
using DeviceObserver = std::function<void(const DeviceNews& news)>;

}  // namespace telegate
