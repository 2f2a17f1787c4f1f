#include "command.hpp"
#include "config/settings_table.hpp"
#include "devices/fleet_run.hpp"
#include "footprint/gateway_process.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::perf {

namespace {

constexpr std::size_t copies_max = 100;  // of the one signal that a device has, as its settings allow

/// That the settings of a gateway allow.
std::size_t devices_max() {
    return find_section("device")->count_max;
}

struct DevicesOptions {
    FleetWork work;  // without its devices that hang
    std::size_t hung = 10;
};

struct FleetFigure {
    std::string_view name;
    double (*of)(const FleetFigures& figures);
    bool compared = false;
    Goal goal{};        // of the figure
    Goal ratio_goal{};  // of the ratio
};

const std::array<FleetFigure, 11> fleet_figures{{
    {"CPU, % of one",
     [](const FleetFigures& run) {
         return run.cpu_percent;
     }},
    {"CPU of tg-sample, % of one",
     [](const FleetFigures& run) {
         return run.cpu_sampling_percent;
     }},
    {"resident, MiB",
     [](const FleetFigures& run) {
         return run.resident_mib;
     }},
    {"seen by each subscriber, samples/s",
     [](const FleetFigures& run) {
         return run.samples;
     }},
    {"lost, samples", [](const FleetFigures& run) { return static_cast<double>(run.status.samples_lost); }, false,
     Goal::at_most(0)},
    {"lost to subscribers, messages",
     [](const FleetFigures& run) { return static_cast<double>(run.status.messages_lost); }, false, Goal::at_most(0)},
    {"late p50, us", [](const FleetFigures& run) { return run.status.late_p50_us; }, true},
    {"late p99, us", [](const FleetFigures& run) { return run.status.late_p99_us; }, true, {}, Goal::at_most(1.2)},
    {"late p99 of the worst device, us", [](const FleetFigures& run) { return run.status.late_p99_worst_us; }, true},
    {"late max, us",
     [](const FleetFigures& run) {
         return run.status.late_max_us;
     }},
    {"ticks missed",
     [](const FleetFigures& run) {
         return static_cast<double>(run.status.ticks_missed);
     }},
}};

/// Alone first, then beside those that hang.
using FleetRows = std::array<std::array<Row, fleet_figures.size()>, 2>;

std::string case_name(std::size_t one, std::size_t hung) {
    return one == 0 ? "alone" : "beside " + std::to_string(hung) + " that hang";
}

std::string text_of_number(double number) {
    std::ostringstream text;
    text << std::setprecision(std::numeric_limits<double>::digits10) << number;
    return text.str();
}

Report describe(const DevicesOptions& options, const CommonOptions& common) {
    const FleetWork& work = options.work;
    const Fleet& fleet = work.fleet;
    Report report{"devices", "one gateway_app, none of its subscribers", {}, {}, {}};
    report.ratios_heading = "beside over alone, run by run";
    report.parameters = {
        {"program", work.program},
        {"devices", std::to_string(fleet.devices) + " that are made up, and answer"},
        {"channels", std::to_string(fleet.channels) + " of each"},
        {"rate", text_of_number(fleet.rate) + " readings/s of each, " +
                     text_of_number(fleet.rate * static_cast<double>(fleet.samples_per_reading())) +
                     " samples/s in all"},
        {"deadlines", fleet.align},
        {"hung", std::to_string(options.hung) + " more in turn, modbus, every " + std::to_string(hung_interval_ms) +
                     " ms, whose peer takes connections and never answers: " + std::to_string(hung_timeout_ms) +
                     " ms each time, breakers closed"},
        {"subscribers", std::to_string(fleet.subscribers) + " of all, over tcp, json"},
        {"queue", std::to_string(fleet.queue_size()) + " samples"},
        {"time", text_of_number(work.seconds) + " s after " + text_of_number(work.warm_up_seconds) + " s"},
        {"runs", std::to_string(common.runs) + ", alone and beside in turn"},
        {"late", "how late readings of those that answer began: medians over devices of what /status says of each"},
        {"counted", "lateness, ticks missed and losses from the start, so the warm-up is in them: some " +
                        text_of_number(std::floor(fleet.rate * (work.seconds + work.warm_up_seconds))) +
                        " readings of each"}};
    return report;
}

/// A value for every figure of both cases.
void add_run(FleetRows& rows, FleetWork work, std::size_t hung, const std::string& run_name) {
    for (std::size_t one = 0; one < rows.size(); ++one) {
        std::cerr << run_name << ", " << case_name(one, hung) << '\n';
        work.hung = one == 0 ? 0 : hung;
        const FleetFigures result = run_fleet(work);
        for (std::size_t figure = 0; figure < fleet_figures.size(); ++figure) {
            rows[one][figure].values.push_back(fleet_figures[figure].of(result));
        }
    }
}

Report run(const DevicesOptions& options, const CommonOptions& common) {
    if (!std::filesystem::exists(options.work.program)) {
        throw std::runtime_error("there is no " + options.work.program + "; build it, or name it with --app");
    }
    FleetRows rows;
    for (std::size_t one = 0; one < rows.size(); ++one) {
        for (std::size_t figure = 0; figure < fleet_figures.size(); ++figure) {
            rows[one][figure].name = case_name(one, options.hung) + ": ";
            rows[one][figure].name += fleet_figures[figure].name;
            rows[one][figure].goal = fleet_figures[figure].goal;
        }
    }
    for (std::size_t round = 1; round <= common.runs; ++round) {
        add_run(rows, options.work, options.hung,
                "run " + std::to_string(round) + " of " + std::to_string(common.runs));
    }
    Report report = describe(options, common);
    for (std::size_t figure = 0; figure < fleet_figures.size(); ++figure) {
        if (fleet_figures[figure].compared) {
            report.ratios.push_back(ratio(std::string(fleet_figures[figure].name), rows[1][figure], rows[0][figure]));
            report.ratios.back().goal = fleet_figures[figure].ratio_goal;
        }
    }
    for (auto& one : rows) {
        for (Row& row : one) {
            report.rows.push_back(std::move(row));
        }
    }
    return report;
}

void check(const DevicesOptions& options) {
    const std::size_t devices = options.work.fleet.devices + options.hung;
    if (devices > devices_max()) {
        throw CLI::ValidationError("--devices", "with those that hang " + std::to_string(devices) +
                                                    "; a gateway has at most " + std::to_string(devices_max()));
    }
}

}  // namespace

Command::Action describe_devices_command(CLI::App& options) {
    constexpr double seconds_max = 3'600;
    const auto chosen = std::make_shared<DevicesOptions>();
    FleetWork& work = chosen->work;
    work.program = gateway_beside();
    options.add_option("--app", work.program, "The gateway_app to measure")->check(CLI::ExistingFile);
    options.add_option("--devices", work.fleet.devices, "That answer")
        ->check(CLI::Range(std::size_t{1}, devices_max() - 1))
        ->capture_default_str();
    options.add_option("--channels", work.fleet.channels, "Of each")
        ->check(CLI::Range(std::size_t{1}, copies_max))
        ->capture_default_str();
    options.add_option("--rate", work.fleet.rate, "Readings of each in a second")
        ->check(CLI::Range(0.1, 1'000.0))
        ->capture_default_str();
    options.add_option("--align", work.fleet.align, "Whether deadlines are spread, or count from the start")
        ->check(CLI::IsMember({"spread", "start"}))
        ->capture_default_str();
    options.add_option("--subscribers", work.fleet.subscribers, "That read all")
        ->check(CLI::Range(std::size_t{1}, std::size_t{64}))
        ->capture_default_str();
    options.add_option("--hung", chosen->hung, "Devices more that hang, in every other measurement")
        ->check(CLI::Range(std::size_t{1}, devices_max() - 1))
        ->capture_default_str();
    options.add_option("--seconds", work.seconds, "Time of each measurement")
        ->check(CLI::Range(0.05, seconds_max))
        ->capture_default_str();
    options.add_option("--warm-up", work.warm_up_seconds, "Time from its start, in seconds, before that")
        ->check(CLI::Range(0.05, seconds_max))
        ->capture_default_str();
    options.callback([chosen] { check(*chosen); });
    return [chosen](const CommonOptions& common) {
        return run(*chosen, common);
    };
}

}  // namespace telegate::perf
