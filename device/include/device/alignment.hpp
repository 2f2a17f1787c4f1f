#pragma once

#include <cstdint>

namespace telegate {

/// Where the deadlines of a device lie.
enum class Alignment : std::uint8_t {
    start,   // counted from its start
    wall,    // on whole multiples of the interval by the wall clock
    spread,  // apart from those of other devices with the same interval
};

}  // namespace telegate
