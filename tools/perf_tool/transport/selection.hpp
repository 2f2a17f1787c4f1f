#pragma once

#include "results.hpp"

namespace CLI {
class App;
}

namespace telegate::perf {

/// The options of `transport` and `fanout`.
struct Selection {
    /// Sets the defaults of a command.
    explicit Selection(bool for_fanout) : is_fanout(for_fanout) {
        if (is_fanout) {
            patterns = {"pubsub"};
            transports = {"tcp", "inproc"};
            sizes = {64};
            subscribers = {1, 2, 4, 8, 64};
        }
    }

    bool is_fanout;
    std::vector<std::string> patterns{"pubsub", "router"};
    std::vector<std::string> transports{"tcp", "ipc", "inproc"};
    std::vector<std::size_t> sizes{64, 1024, 8 * 1024, 64 * 1024};
    std::vector<std::size_t> subscribers{1};
    std::vector<std::size_t> topics{1};
    std::vector<std::size_t> io_threads;  // of a publisher, each measured; empty: one thread
    std::vector<std::string> engines{"telegate", "libzmq", "raw"};
    std::string variants = "reported";
    double seconds = 0.1;  // approximate time per engine and run
    std::string messages;  // instead of the seconds: a number, or "original"
    bool two_processes = false;
    bool curve = false;
};

/// Adds the options to the command line; `selection` outlives it. With CURVE, the defaults are 64 B and 8 KiB over tcp.
void add_options(CLI::App& app, Selection& selection);

/// Returns the possible cells. The number of messages is 0 if it was not given.
[[nodiscard]] std::vector<Cell> cells_of(const Selection& selection);

}  // namespace telegate::perf
