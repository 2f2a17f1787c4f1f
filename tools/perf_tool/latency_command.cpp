#include "command.hpp"
#include "transport/latency.hpp"

#include <array>
#include <iterator>

namespace telegate::perf {

namespace {

constexpr std::uint64_t round_trips_max = 10'000'000;  // per run: 80 MB of times

struct LatencyOptions {
    std::vector<std::string> transports{"tcp", "ipc"};
    std::vector<std::string> engines{"telegate", "libzmq", "raw"};
    std::size_t size = 64;
    double seconds = 1;          // per engine and run
    std::uint64_t messages = 0;  // instead of the seconds, if not 0
    std::string placement = "apart";
};

// The report shows the CPU time with the first one.
constexpr std::array<std::pair<const char*, double>, 5> percentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}}};

std::vector<LatencyEngine> engines_of(const LatencyOptions& options) {
    std::vector<LatencyEngine> engines{telegate_latency()};
    std::ranges::copy(libzmq_latency(), std::back_inserter(engines));
    engines.push_back(raw_latency());
    std::erase_if(engines, [&](const LatencyEngine& engine) { return !contains(options.engines, engine.name); });
    if (engines.empty()) {
        throw std::runtime_error("none of the requested engines is available");
    }
    return engines;
}

/// Adds a cell per percentile, each with a series for each engine that supports the transport.
void add_cells(std::vector<Cell>& cells, const LatencyWork& work, const std::vector<LatencyEngine>& engines) {
    for (const auto& [name, share] : percentiles) {
        Cell& cell = cells.emplace_back();
        cell.group = "DEALER-ROUTER ";
        cell.group += to_string(work.transport);
        cell.name = name;
        cell.work.pattern = Pattern::router;
        cell.work.transport = work.transport;
        cell.work.size = work.size;
        cell.work.messages = work.round_trips;
        for (const LatencyEngine& engine : engines) {
            if (engine.can(work.transport)) {
                cell.series.push_back({std::string(engine.name)});
            }
        }
    }
}

/// Adds a run of an engine to the cells of a transport.
void add_run(std::span<Cell> cells, std::string_view engine, RoundTrips trips) {
    for (std::size_t index = 0; index < percentiles.size(); ++index) {
        Series& series = *std::ranges::find(cells[index].series, engine, &Series::engine);
        series.rates.push_back(static_cast<double>(quantile(trips.ns, percentiles[index].second)) / 1'000);
        if (index == 0) {
            series.cpu_ns.push_back(trips.cpu_ns);
        }
    }
}

void run_all(std::span<Cell> cells, const LatencyWork& work, const std::vector<LatencyEngine>& engines) {
    for (const LatencyEngine& engine : engines) {
        if (engine.can(work.transport)) {
            add_run(cells, engine.name, engine.run(work));
        }
    }
}

Matrix describe(const LatencyOptions& options, const std::vector<LatencyEngine>& engines) {
    Matrix matrix{"latency", "microseconds", {}, {}, true};
    matrix.parameters = {{"threads", words_of(placement_of(options.placement)) + "; those of libzmq are not pinned"}};
    for (const LatencyEngine& engine : engines) {
        matrix.parameters.emplace_back(engine.name, engine.setup);
    }
    if (libzmq_latency().empty()) {
        matrix.parameters.emplace_back("libzmq", "not measured: not found when perf_tool was built");
    }
    return matrix;
}

/// Fills a matrix with a group per transport and a cell per percentile.
void measure(const LatencyOptions& options, Steps& steps, Matrix& matrix) {
    LatencyWork work;
    work.size = options.size;
    work.placement = placement_of(options.placement);
    work.round_trips = options.messages;
    if (options.messages == 0) {
        work.round_trips = round_trips_max;
        work.time =
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.seconds));
    }
    const std::vector<LatencyEngine> engines = engines_of(options);
    matrix = describe(options, engines);
    for (const std::string& transport : options.transports) {
        work.transport = transport_of(transport);
        add_cells(matrix.cells, work, engines);
    }
    steps.expect(steps.runs() * options.transports.size());
    for (std::size_t run = 0; run < steps.runs(); ++run) {
        for (std::size_t first = 0; first < matrix.cells.size(); first += percentiles.size()) {
            const std::span<Cell> cells = std::span(matrix.cells).subspan(first, percentiles.size());
            steps.next(cells.front().group + ", run " + std::to_string(run + 1));
            work.transport = cells.front().work.transport;
            run_all(cells, work, engines);
        }
    }
}

void add_options(CLI::App& app, LatencyOptions& chosen) {
    add_list(app, "--transport", chosen.transports, "Transports, separated by commas")
        ->check(CLI::IsMember({"tcp", "ipc", "inproc"}));
    add_list(app, "--engine", chosen.engines, "Engines, separated by commas")
        ->check(CLI::IsMember({"telegate", "libzmq", "raw"}));
    app.add_option("--size", chosen.size, "Payload size in bytes")->check(CLI::Range(16, 1024 * 1024));
    auto* const seconds =
        app.add_option("--seconds", chosen.seconds, "Seconds per engine and run")->check(CLI::Range(0.001, 3'600.0));
    app.add_option("--messages", chosen.messages, "Round trips per engine and run; overrides --seconds unless 0")
        ->check(CLI::Range(std::uint64_t{0}, round_trips_max))
        ->excludes(seconds);
    app.add_option("--pin", chosen.placement, "Pin both threads to two processors, to one, or to none")
        ->check(CLI::IsMember({"apart", "together", "free"}));
}

}  // namespace

Command::Action describe_latency_command(CLI::App& app) {
    return make_action<LatencyOptions>(app, add_options, measure);
}

}  // namespace telegate::perf
