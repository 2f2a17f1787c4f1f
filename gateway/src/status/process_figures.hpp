#pragma once

#include <cstdint>

namespace telegate {

/// The operating system's figures for this process.
struct ProcessFigures {
    double cpu_seconds = 0;
    double start_time_seconds = 0;  // since 1970 UTC
    std::uint64_t resident_bytes = 0;
    std::uint64_t virtual_bytes = 0;
    std::uint64_t threads = 0;
    std::uint64_t open_descriptors = 0;
    std::uint64_t descriptors_max = 0;
};

/// Reads the figures; an unavailable figure is 0. Threads: any.
[[nodiscard]] ProcessFigures process_figures();

}  // namespace telegate
