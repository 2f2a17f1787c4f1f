#pragma once

#include "device/driver.hpp"
#include "events/events.hpp"

#include <string>

namespace telegate {

/// Makes a driver `gateway` publish events, each as a text such as "device failed plc": those that come from now on,
/// or, if it replaces the driver of this device, those that the other one has not published. Other drivers stay as they
/// are. To be called before the driver is installed. `events` outlives it.
void publish_events(Driver& driver, const std::string& device, EventLog& events);

}  // namespace telegate
