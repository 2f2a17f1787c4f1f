#pragma once

#include "core/endpoint.hpp"
#include "placement.hpp"
#include "results.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace telegate::perf {

/// What every engine does in one run: a DEALER sends a message of one frame, a ROUTER in another thread sends it back,
/// and only then comes the next. Each has one connection. The answer's size, number and last byte are checked.
struct LatencyWork {
    Transport transport = Transport::tcp;
    std::size_t size = 64;            // bytes of payload, 16 at least
    std::uint64_t round_trips = 0;    // at most; the run ends with whichever comes first
    std::chrono::nanoseconds time{};  // zero for no such end
    Placement placement{};
};

/// The time of each round trip, and the processor time of one.
struct RoundTrips {
    std::vector<std::uint64_t> ns;
    double cpu_ns = 0;         // of all threads, system calls included
    double sender_cpu_ns = 0;  // of the thread of the DEALER
};

/// One way to do it. `run` throws std::runtime_error when an answer is wrong or does not come within ten seconds.
struct LatencyEngine {
    std::string_view name;
    std::string (*setup)();  // in words, with the version of what is not ours
    bool (*can)(Transport transport);
    RoundTrips (*run)(const LatencyWork& work);
};

[[nodiscard]] LatencyEngine telegate_latency();
[[nodiscard]] LatencyEngine raw_latency();
/// None when it is not linked.
[[nodiscard]] std::span<const LatencyEngine> libzmq_latency();

struct LatencyOptions {
    std::vector<std::string> transports{"tcp", "ipc"};
    std::vector<std::string> engines{"telegate", "libzmq", "raw"};
    std::size_t size = 64;
    double seconds = 2;          // each engine in each run
    std::uint64_t messages = 0;  // instead of the seconds, when not zero
    std::string placement = "apart";
};

/// Adds the options to a command line that outlives what is returned being filled.
[[nodiscard]] std::shared_ptr<LatencyOptions> add_latency_options(CLI::App& options);

/// One group per transport, one cell per percentile, values in microseconds. The processor time of a round trip is
/// with p50.
[[nodiscard]] Matrix measure_latency(const LatencyOptions& options, std::size_t runs);

}  // namespace telegate::perf
