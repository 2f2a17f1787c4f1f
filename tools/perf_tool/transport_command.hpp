#pragma once

#include "command.hpp"
#include "transport/workload.hpp"

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

/// Adds the options to the command line; `selection` outlives it.
void add_options(CLI::App& app, Selection& selection);

/// A workload with its name, such as "64 B".
struct Cell {
    std::string name;
    Workload work{};
    double seconds = 0;  // about as long as a run takes, if the number of messages is 0
};
struct CellGroup {
    std::string title;  // "PUB/SUB tcp"
    std::vector<Cell> cells;
};
/// Returns the possible cells.
[[nodiscard]] std::vector<CellGroup> cells_of(const Selection& selection);

/// An implementation of workloads, such as "libzmq, HWM 0".
struct SocketEngine {
    std::string name;
    std::function<std::uint64_t(const Workload& work)> messages_max;  // 0 if it cannot do the work
    std::function<Outcome(const Workload& work)> run;
};
/// Returns the requested engines that are available. The first of libzmq has the reported configuration.
[[nodiscard]] std::vector<SocketEngine> engines_of(const Selection& selection);

/// Adds the engine to the group if it can do the work.
void add_engine(Group& group, const Cell& cell, const SocketEngine& engine, Report& report);
/// Adds the ratios of each row of Telegate to those of libzmq and raw in a cell. Microseconds are better if lower.
void add_comparisons(Report& report, const std::string& title, const std::string& unit, const std::string& cell);

/// Returns "64 B", "8 KiB" or "1 MiB".
[[nodiscard]] std::string size_name(std::size_t bytes);

}  // namespace telegate::perf
