#pragma once

#include "device/driver.hpp"
#include "events/events.hpp"

#include <memory>

namespace telegate {

/// The gateway as a device: the channels of its clock, as the driver `clock` has them, and `events`, a text for each
/// event such as "device failed plc". Never fails.
[[nodiscard]] std::unique_ptr<Driver> make_gateway_driver();

/// Makes a driver that make_gateway_driver() made publish the events that come from now on; any other is left alone.
/// Before it is installed. `events` outlives it.
void read_events_from(Driver& driver, const EventLog& events);

}  // namespace telegate
