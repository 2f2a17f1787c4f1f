#include "../statistics.hpp"
#include "chosen_names.hpp"
#include "ping_pong.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <iterator>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

constexpr std::uint64_t round_trips_max = 10'000'000;  // of one run: 80 MB of times
constexpr std::size_t payload_bytes_min = 16;          // the number at the front, the byte at the end
constexpr std::size_t payload_bytes_max = 1024 * 1024;

struct NamedTransport {
    const char* name;
    Transport transport;
};
constexpr std::array<NamedTransport, 3> transports{
    {{"tcp", Transport::tcp}, {"ipc", Transport::ipc}, {"inproc", Transport::inproc}}};

struct Percentile {
    const char* name;
    double share;
};
// The first carries the processor time.
constexpr std::array<Percentile, 5> percentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}}};

std::vector<LatencyEngine> engines_of(const LatencyOptions& options) {
    std::vector<LatencyEngine> engines{telegate_latency()};
    std::ranges::copy(libzmq_latency(), std::back_inserter(engines));
    engines.push_back(raw_latency());
    std::erase_if(engines, [&](const LatencyEngine& engine) { return !contains(options.engines, engine.name); });
    return engines;
}

/// The cells of one transport, with a place for each engine that can do it.
std::vector<Cell> cells_over(const NamedTransport& over, const LatencyWork& work,
                             const std::vector<LatencyEngine>& engines) {
    std::vector<Cell> cells;
    for (const Percentile& percentile : percentiles) {
        Cell cell{std::string("DEALER-ROUTER ") + over.name, percentile.name, {}, {}};
        cell.work.pattern = Pattern::router;
        cell.work.transport = over.transport;
        cell.work.size = work.size;
        cell.work.messages = work.round_trips;
        for (const LatencyEngine& engine : engines) {
            if (engine.can(over.transport)) {
                cell.series.push_back({std::string(engine.name), "", {}, {}, {}, {}});
            }
        }
        cells.push_back(std::move(cell));
    }
    return cells;
}

/// Adds one run of one engine to its place in each of the cells of a transport.
void add_run(std::span<Cell> cells, std::string_view engine, RoundTrips trips) {
    for (std::size_t index = 0; index < percentiles.size(); ++index) {
        Series& series = *std::ranges::find(cells[index].series, engine, &Series::engine);
        series.rates.push_back(static_cast<double>(quantile(trips.ns, percentiles[index].share)) / 1'000);
        if (index == 0) {
            series.cpu_ns.push_back(trips.cpu_ns);
            series.sender_cpu_ns.push_back(trips.sender_cpu_ns);
        }
    }
}

/// One run of all engines over the transport that the cells are of.
void run_all(std::span<Cell> cells, LatencyWork work, const std::vector<LatencyEngine>& engines) {
    work.transport = cells.front().work.transport;
    for (const LatencyEngine& engine : engines) {
        if (engine.can(work.transport)) {
            add_run(cells, engine.name, engine.run(work));
        }
    }
}

LatencyWork work_of(const LatencyOptions& options) {
    LatencyWork work;
    work.size = options.size;
    work.placement = placement_of(options.placement);
    work.round_trips = options.messages;
    if (options.messages == 0) {
        work.round_trips = round_trips_max;
        work.time =
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.seconds));
    }
    return work;
}

Matrix describe(const LatencyOptions& options, const std::vector<LatencyEngine>& engines, std::size_t runs) {
    Matrix matrix{"latency", "microseconds", {}, {}, true};
    const bool counts = options.messages != 0;
    matrix.parameters = {
        {"size", std::to_string(options.size) + " bytes"},
        {"runs", std::to_string(runs) + (counts ? " of " + std::to_string(options.messages) + " round trips" : "") +
                     ", all engines in turn"},
        {"work", "round trips DEALER to ROUTER and back, one message at a time, a thread on each side"},
        {"threads", words_of(placement_of(options.placement)) + "; those of libzmq's own are not pinned"}};
    if (!counts) {
        std::ostringstream seconds;
        seconds << options.seconds << " s for each engine in each run";
        matrix.parameters.emplace_back("time", seconds.str());
    }
    for (const LatencyEngine& engine : engines) {
        matrix.parameters.emplace_back(engine.name, engine.setup());
    }
    if (libzmq_latency().empty()) {
        matrix.parameters.emplace_back("libzmq", "not measured: it was not found when this was built");
    }
    return matrix;
}

}  // namespace

std::shared_ptr<LatencyOptions> add_latency_options(CLI::App& options) {
    auto chosen = std::make_shared<LatencyOptions>();
    options.add_option("--transport", chosen->transports, "Those to measure, with commas between")
        ->delimiter(',')
        ->check(CLI::IsMember({"tcp", "ipc", "inproc"}))
        ->capture_default_str();
    options.add_option("--engine", chosen->engines, "Those to measure, with commas between")
        ->delimiter(',')
        ->check(CLI::IsMember({"telegate", "libzmq", "raw"}))
        ->capture_default_str();
    options.add_option("--size", chosen->size, "Bytes of each payload")
        ->check(CLI::Range(payload_bytes_min, payload_bytes_max))
        ->capture_default_str();
    auto* const seconds = options.add_option("--seconds", chosen->seconds, "Time of each engine in each run")
                              ->check(CLI::Range(0.001, 3'600.0))
                              ->capture_default_str();
    options.add_option("--messages", chosen->messages, "Round trips of each engine in each run, instead")
        ->check(CLI::Range(std::uint64_t{1}, round_trips_max))
        ->excludes(seconds);
    options.add_option("--pin", chosen->placement, "Both threads: on two processors, on one, or as the system likes")
        ->check(CLI::IsMember({"apart", "together", "free"}))
        ->capture_default_str();
    return chosen;
}

Matrix measure_latency(const LatencyOptions& options, std::size_t runs) {
    const LatencyWork base = work_of(options);
    const std::vector<LatencyEngine> engines = engines_of(options);
    if (engines.empty()) {
        throw std::runtime_error("none of the engines asked for is there");
    }
    Matrix matrix = describe(options, engines, runs);
    for (const NamedTransport& over : transports) {
        if (contains(options.transports, over.name)) {
            std::ranges::move(cells_over(over, base, engines), std::back_inserter(matrix.cells));
        }
    }
    for (std::size_t run = 0; run < runs; ++run) {
        for (std::size_t first = 0; first < matrix.cells.size(); first += percentiles.size()) {
            const std::span<Cell> cells = std::span(matrix.cells).subspan(first, percentiles.size());
            std::cerr << "run " << run + 1 << " of " << runs << ", " << cells.front().group << '\n';
            run_all(cells, base, engines);
        }
    }
    return matrix;
}

}  // namespace telegate::perf
