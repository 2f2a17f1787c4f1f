#pragma once

#include "workload.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::perf {

/// One way to do a workload.
struct Engine {
    std::string_view name;  // "telegate", "libzmq", "raw"
    std::string variant;    // how it is set up, in words; empty when there is one only, or Outcome::setup tells
    std::function<bool(const Workload& work)> can;
    /// Throws std::runtime_error when a message was lost, changed or out of order, or nothing moved for ten seconds.
    std::function<Outcome(const Workload& work)> run;
};

/// One for each number of io threads of a publisher; when none is named, one with a single thread.
[[nodiscard]] std::vector<Engine> telegate_engines(std::span<const std::size_t> io_threads);
/// The first is set up as in ServerLink's reports, see tools/perf_tool/README.md. More than one I/O thread is a variant
/// of its own.
[[nodiscard]] std::vector<Engine> libzmq_engines(std::size_t io_threads = 1);

/// How long raw tries each way to do a workload, three times, before it takes the best.
struct RawTrial {
    double seconds = 0.2;
    std::uint64_t messages_max = UINT64_MAX;
};
[[nodiscard]] std::vector<Engine> raw_engines(const RawTrial& trial);

/// Of the library that is linked; empty when there is none, and then libzmq_engines() is too.
[[nodiscard]] std::string libzmq_version();

}  // namespace telegate::perf
