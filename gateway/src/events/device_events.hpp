#pragma once

#include "device/device_news.hpp"
#include "device/driver.hpp"
#include "events/events.hpp"

#include <string>

namespace telegate {

/// Returns the event of a transition, with the fields of the transition: `reason`, `after_s`, `reads_failed`,
/// `samples_missed`, `retry_ms`. Threads: any. Failure: std::bad_alloc.
[[nodiscard]] Event to_event(const DeviceNews& news);

/// Makes a driver `gateway` publish events as texts such as "device failed plc": new events, or, if it replaces a
/// driver of this device, those that the previous driver has not published. Other drivers are not changed. Must be
/// called before the driver is installed. `events` must outlive the driver.
void publish_events(Driver& driver, const std::string& device, EventLog& events);

}  // namespace telegate
