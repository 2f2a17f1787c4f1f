#pragma once

#include <cstdint>

namespace telegate {

/// How the deadlines of a device are aligned.
enum class Alignment : std::uint8_t {
    start,   // relative to the start of the device
    wall,    // at whole multiples of the interval on the wall clock
    spread,  // away from those of other devices with the same interval
};

}  // namespace telegate
