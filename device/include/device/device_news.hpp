#pragma once

#include "core/clock.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace telegate {

/// What a device goes through.
enum class DeviceTransition : std::uint8_t {
    failed,          // measuring -> error or safe
    recovered,       // error -> measuring
    safe,            // failed too often in a row; not read until a reset
    breaker_opened,  // closed -> open; not for the tries after that
    breaker_closed,  // the try after a wait was good
    started,         // the commands, if they changed the state
    stopped,
    reset,
    added,    // by a change of the devices
    changed,  // the same, another driver: an outage ends with the one before
    removed,
};

/// One transition of one device. Members that a transition does not mention are zero or empty.
struct DeviceNews {
    DeviceTransition transition = DeviceTransition::failed;
    std::string_view device = {};  // this and `why` are valid during the call
    std::int64_t time_utc_ns = 0;
    std::string_view why = {};         // failed, safe, breaker_opened: the error of the last reading
    Duration outage{0};                // recovered: since the first failed reading
    std::uint64_t reads_failed = 0;    // recovered, safe, breaker_opened: in this outage
    std::uint64_t samples_missed = 0;  // recovered: bad samples, and those of readings that were left out
    Duration retry_after{0};           // breaker_opened
};

/// Receives transitions. Called on the thread that reads the device, between two readings, so it must be quick and must
/// not throw; never called for a sample.
using DeviceObserver = std::function<void(const DeviceNews& news)>;

}  // namespace telegate
