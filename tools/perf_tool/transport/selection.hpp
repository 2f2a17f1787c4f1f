#pragma once

#include "engine.hpp"
#include "results.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace telegate::perf {

/// What `transport` and `fanout` have in common on the command line.
struct EngineSelection {
    std::vector<std::string> transports{"tcp", "ipc", "inproc"};
    std::vector<std::string> engines{"telegate", "libzmq", "raw"};
    std::string variants = "all";
    double seconds = 2;    // that each engine takes in each run, about
    std::string messages;  // instead of the seconds: a number, or "original"
    bool curve = false;
    std::vector<std::size_t> io_threads;  // of a publisher, each measured; none: one thread, and no word of it
};

struct TransportSelection : EngineSelection {
    std::vector<std::string> patterns{"pubsub", "router"};
    std::vector<std::size_t> sizes{64, 1024, 8 * 1024, 64 * 1024};
    bool two_processes = false;
};

struct FanoutSelection : EngineSelection {
    FanoutSelection() { transports = {"tcp", "inproc"}; }
    std::vector<std::size_t> subscribers{1, 2, 4, 8, 64};
    std::vector<std::size_t> topics{1};
    std::vector<std::size_t> sizes{64};
};

/// Adds the options to the command line; `selection` outlives it. With CURVE, what is not named is 64 B and 8 KiB
/// over tcp.
void add_options(CLI::App& app, TransportSelection& selection);
void add_options(CLI::App& app, FanoutSelection& selection);

/// In the order of the patterns or topics, then transports, then sizes, then subscribers, without what does not exist.
/// The number of messages is 0 where it is not asked for.
[[nodiscard]] std::vector<Cell> cells_of(const TransportSelection& selection);
[[nodiscard]] std::vector<Cell> cells_of(const FanoutSelection& selection);

/// The three trials of each way that raw can go take no longer than one run; of a number of messages, each no more.
[[nodiscard]] RawTrial raw_trial_of(const EngineSelection& selection);

/// What ServerLink's reports sent of messages of this size; 0 for another size.
[[nodiscard]] std::uint64_t original_messages(std::size_t size) noexcept;

}  // namespace telegate::perf
