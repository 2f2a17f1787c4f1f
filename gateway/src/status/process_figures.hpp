#pragma once

#include <cstdint>

namespace telegate {

/// What the system says of this process.
struct ProcessFigures {
    double cpu_seconds = 0;
    double start_time_seconds = 0;  // since 1970 UTC
    std::uint64_t resident_bytes = 0;
    std::uint64_t virtual_bytes = 0;
    std::uint64_t threads = 0;
    std::uint64_t open_descriptors = 0;
    std::uint64_t descriptors_max = 0;
};

/// Threads: any. What cannot be found out is 0.
[[nodiscard]] ProcessFigures process_figures();

}  // namespace telegate
