#include "command.hpp"
#include "footprint/footprint.hpp"
#include "footprint/gateway_process.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

constexpr std::size_t queue_samples = 65'536;
constexpr double queue_sample_bytes_max = 64;

struct FootprintOptions {
    FootprintWork work;
    std::vector<std::string> names;    // of the usual scenarios; empty: all
    std::vector<std::string> configs;  // files instead
};

/// The library beside this program, where there is one.
std::string counter_beside() {
    const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libtelegate_allocations.so";
    return std::filesystem::exists(path) ? path.string() : "";
}

std::vector<Scenario> scenarios_of(const FootprintOptions& options) {
    std::vector<Scenario> scenarios;
    for (const std::string& config : options.configs) {
        scenarios.push_back({std::filesystem::path(config).stem().string(), config, {}, "", 0, 0, {}});
    }
    if (!scenarios.empty()) {
        return scenarios;
    }
    scenarios = usual_scenarios(TELEGATE_CONFIG_FOLDER);
    if (!options.names.empty()) {
        std::erase_if(scenarios, [&](const Scenario& scenario) {
            return std::ranges::find(options.names, scenario.name) == options.names.end();
        });
    }
    return scenarios;
}

Goal at_most(double value) {
    return value > 0 ? Goal::at_most(value) : Goal{};
}

/// The figures of one run, in the order of the report.
std::vector<Row> rows_of(const Scenario& scenario, Footprint measured) {
    const auto named = [&scenario](const char* figure) {
        return scenario.name + ": " + figure;
    };
    const FootprintGoals& goals = scenario.goals;
    std::vector<Row> rows{
        {named("resident, KiB"), {static_cast<double>(measured.memory.resident_kib)}, at_most(goals.resident_kib)},
        {named("proportional, KiB"), {static_cast<double>(measured.memory.proportional_kib)}},
        {named("anonymous, KiB"), {static_cast<double>(measured.memory.anonymous_kib)}, at_most(goals.anonymous_kib)},
        {named("threads"), {static_cast<double>(measured.threads)}},
        {named("descriptors"), {static_cast<double>(measured.memory.descriptors)}},
        {named("CPU, % of one"), {measured.cpu_percent}, at_most(goals.cpu_percent)},
        {named("samples, /s"), {measured.samples}},
        {named("dropped, samples"), {measured.dropped}, Goal::at_most(0)},
        {named("wake-ups, /s"), {measured.wake_ups}},
        {named("context switches, /s"), {measured.switches}}};
    if (goals.few_wake_ups) {
        rows.push_back(
            {named("wake-ups beyond samples, /s"), {measured.wake_ups - measured.samples}, Goal::at_most(2)});
    }
    if (measured.allocations) {
        rows.push_back({named("allocations, /s"), {*measured.allocations}});
    }
    if (!measured.status_us.empty()) {
        rows.push_back({named("GET /status p50, us"), {quantile(measured.status_us, 0.5)}});
        rows.push_back({named("GET /status p99, us"), {quantile(measured.status_us, 0.99)}});
    }
    return rows;
}

/// Adds a run to what the earlier ones have found.
void add_run(std::vector<Row>& rows, std::size_t first, std::vector<Row> run) {
    if (rows.size() == first) {
        std::ranges::move(run, std::back_inserter(rows));
        return;
    }
    for (std::size_t index = 0; index < run.size(); ++index) {
        rows.at(first + index).values.push_back(run[index].values.front());
    }
}

void add_queue(std::vector<Row>& rows, std::size_t runs) {
    Row empty{"queue of 65536: empty, bytes", {}, {}};
    Row full{"queue of 65536: full, bytes/sample", {}, Goal::at_most(queue_sample_bytes_max)};
    for (std::size_t run = 0; run < runs; ++run) {
        const QueueMemory memory = measure_queue(queue_samples);
        empty.values.push_back(memory.empty_bytes);
        full.values.push_back(memory.bytes_per_sample);
    }
    rows.insert(rows.end(), {std::move(empty), std::move(full)});
}

Report measure(const FootprintOptions& options, const CommonOptions& common) {
    const std::vector<Scenario> scenarios = scenarios_of(options);
    if (!std::filesystem::exists(options.work.program)) {
        throw std::runtime_error("there is no " + options.work.program + "; build it, or name it with --app");
    }
    Report report{"footprint", "one gateway_app, none of its visitors", {}, {}, {}};
    report.parameters = {{"program", options.work.program},
                         {"time", std::to_string(options.work.seconds) + " s after " +
                                      std::to_string(options.work.warm_up_seconds) + " s"},
                         {"runs", std::to_string(common.runs)},
                         {"wake-ups", "voluntary context switches of all its threads"},
                         {"allocations", options.work.allocation_counter.empty()
                                             ? "not counted: the counter was not built"
                                             : "in a run of their own, by a counter loaded into it"}};
    if (options.configs.empty() && options.names.empty()) {
        add_queue(report.rows, common.runs);
    }
    for (const Scenario& scenario : scenarios) {
        const std::size_t first = report.rows.size();
        for (std::size_t run = 0; run < common.runs; ++run) {
            std::cerr << "run " << run + 1 << " of " << common.runs << ", " << scenario.name << '\n';
            add_run(report.rows, first, rows_of(scenario, measure_footprint(options.work, scenario)));
        }
    }
    return report;
}

std::vector<std::string> usual_names() {
    std::vector<std::string> names;
    for (const Scenario& scenario : usual_scenarios("")) {
        names.push_back(scenario.name);
    }
    return names;
}

}  // namespace

Command::Action describe_footprint_command(CLI::App& options) {
    const auto chosen = std::make_shared<FootprintOptions>();
    chosen->work.program = gateway_beside();
    chosen->work.allocation_counter = counter_beside();
    options.add_option("--app", chosen->work.program, "The gateway_app to measure")->check(CLI::ExistingFile);
    auto* const names = options.add_option("--scenario", chosen->names, "Those to measure, one or more")
                            ->check(CLI::IsMember(usual_names()));
    options.add_option("--config", chosen->configs, "Settings files to measure, instead")
        ->check(CLI::ExistingFile)
        ->excludes(names);
    options.add_option("--seconds", chosen->work.seconds, "Time of each measurement")
        ->check(CLI::Range(0.01, 3'600.0))
        ->capture_default_str();
    options
        .add_option("--warm-up", chosen->work.warm_up_seconds, "Time from its start, in seconds, that is not measured")
        ->check(CLI::Range(0.01, 3'600.0))
        ->capture_default_str();
    return [chosen](const CommonOptions& common) {
        return measure(*chosen, common);
    };
}

}  // namespace telegate::perf
