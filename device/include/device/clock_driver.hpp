#pragma once

#include "device/clock_watch.hpp"
#include "device/driver.hpp"

#include <memory>

namespace telegate {

/// The wall clock as a device: whether it is right, by how much it may be wrong, and its steps. Channels are in
/// docs/clock.md. Never fails; what the kernel does not say is a channel of quality bad.
[[nodiscard]] std::unique_ptr<Driver> make_clock_driver(std::shared_ptr<ClockWatch> watch = machine_clock_watch());

}  // namespace telegate
