#pragma once

/// Calls the macro `each` with the name of each type of uplink, in alphabetical order.
#define TELEGATE_UPLINK_TYPES(each) each(influxdb) each(nats)
