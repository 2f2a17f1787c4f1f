#pragma once

#include "device/driver.hpp"
#include "events/events.hpp"

#include <memory>
#include <string>

namespace telegate {

/// The gateway as a device: the channels of its clock, as the driver `clock` has them, and `events`, a text for each
/// event such as "device failed plc". Never fails.
[[nodiscard]] std::unique_ptr<Driver> make_gateway_driver();

/// Makes a driver of make_gateway_driver() publish events: those that come from now on, or, if it replaces the driver
/// of this device, those that the other one has not published. Other drivers stay as they are. To be called before the
/// driver is installed. `events` outlives it.
void read_events_from(Driver& driver, const std::string& device, EventLog& events);

}  // namespace telegate
