#pragma once

#include "device/clock_watch.hpp"
#include "device/driver.hpp"

#include <memory>

namespace telegate {

/// Creates the driver that publishes the state of the wall clock: whether it is synchronized, its estimated error, and
/// its steps. The channels are listed in docs/clock.md. Reading never fails; a value that the kernel does not report is
/// a sample with quality bad.
[[nodiscard]] std::unique_ptr<Driver> make_clock_driver(std::shared_ptr<ClockWatch> watch = machine_clock_watch());

}  // namespace telegate
