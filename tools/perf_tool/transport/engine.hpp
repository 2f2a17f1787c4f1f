#pragma once

#include "workload.hpp"

#include <span>
#include <string>
#include <string_view>

namespace telegate::perf {

/// One way to do a workload.
struct Engine {
    std::string_view name;     // "telegate", "libzmq", "raw"
    std::string_view variant;  // how it is set up, in words; empty when there is one only
    bool (*can)(const Workload& work);
    /// Throws std::runtime_error when a message was lost, changed or out of order, or nothing moved for ten seconds.
    Outcome (*run)(const Workload& work);
};

/// Those of libzmq: the first is set up as in ServerLink's reports, see tools/perf_tool/README.md.
[[nodiscard]] std::span<const Engine> telegate_engines();
[[nodiscard]] std::span<const Engine> libzmq_engines();
[[nodiscard]] std::span<const Engine> raw_engines();

/// Of the library that is linked; empty when there is none, and then libzmq_engines() is too.
[[nodiscard]] std::string libzmq_version();

}  // namespace telegate::perf
