#pragma once

#include "device/device_news.hpp"
#include "events/events.hpp"

namespace telegate {

/// The event of a transition. Its text has the fields that the transition has: `why`, `after_s`, `reads_failed`,
/// `samples_missed`, `retry_ms`. Threads: any. Failure: std::bad_alloc.
[[nodiscard]] Event to_event(const DeviceNews& news);

}  // namespace telegate
