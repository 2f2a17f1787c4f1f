#pragma once

#include "device/device_news.hpp"
#include "events/events.hpp"

namespace telegate {

/// Returns the event of a transition, with the fields of the transition: `reason`, `after_s`, `reads_failed`,
/// `samples_missed`, `retry_ms`. Threads: any. Failure: std::bad_alloc.
[[nodiscard]] Event to_event(const DeviceNews& news);

}  // namespace telegate
