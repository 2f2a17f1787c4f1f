#include "command.hpp"
#include "config/settings_table.hpp"
#include "devices/fleet.hpp"
#include "devices/silent_peer.hpp"
#include "footprint/gateway_process.hpp"
#include "footprint/scratch.hpp"
#include "process_figures.hpp"
#include "rest/status_clients.hpp"

namespace telegate::perf {

namespace {

constexpr int copies_max = 100;  // the limit of the setting `copies` of a simulated device
constexpr double seconds_max = 3'600;

struct DevicesOptions {
    Fleet fleet;
    std::size_t hung = 10;
    std::string program = gateway_beside();
    double seconds = 10;
    double warm_up_seconds = 2;
};

/// Throws unless the condition for a valid run holds.
void require(bool right, const std::string& what) {
    if (!right) {
        throw std::runtime_error(what);
    }
}

struct RunningFleet {
    const EndInOrder& end_in_order;
    pid_t gateway;
    const Crowd& crowd;
};

/// Adds CPU time, memory and received samples. Waits for the measured time.
void measure_running(Report& report, const std::string& name, const DevicesOptions& options,
                     const RunningFleet& running) {
    const auto& [end_in_order, gateway, crowd] = running;
    const std::vector<ThreadFigures> before = threads_of(gateway);
    const std::uint64_t seen_before = crowd.messages();
    const auto begin = std::chrono::steady_clock::now();
    end_in_order.wait_seconds(options.seconds);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    const std::vector<ThreadFigures> after = threads_of(gateway);
    const auto seen = static_cast<double>(crowd.messages() - seen_before);
    require(seen > 0, "the subscribers received no samples");
    const auto cpu_percent = [&](const char* threads) {
        return static_cast<double>(since(before, after, threads).cpu_ns) * 100 / 1e9 / time.count();
    };
    report.add(name + "CPU, % of one", cpu_percent(""));
    report.add(name + "CPU of tg-sample, % of one", cpu_percent("tg-sample"));
    report.add(name + "resident, MiB", static_cast<double>(memory_of(gateway).resident_kib) / 1'024);
    report.add(name + "seen by each subscriber, samples/s",
               seen / time.count() / static_cast<double>(options.fleet.subscribers));
}

void add_status(Report& report, const std::string& name, const FleetStatus& status) {
    report.add(name + "lost, samples", static_cast<double>(status.samples_lost), Goal::at_most(0));
    report.add(name + "lost by subscribers, messages", static_cast<double>(status.messages_lost), Goal::at_most(0));
    report.add(name + "late p50, us", status.late_p50_us);
    report.add(name + "late p99, us", status.late_p99_us);
    report.add(name + "late p99 of the worst device, us", status.late_p99_worst_us);
    report.add(name + "late max, us", status.late_max_us);
    report.add(name + "ticks missed", static_cast<double>(status.ticks_missed));
}

/// Starts gateway_app with the fleet and `hung` devices that hang, measures it after the warm-up, requests its status
/// and stops it. Throws std::runtime_error if a device that responds failed, if a device that hangs did not connect to
/// its peer, if subscribers received nothing, or at SIGINT and SIGTERM.
void run_fleet(Report& report, const std::string& name, const DevicesOptions& options, std::size_t hung) {
    const EndInOrder end_in_order;
    const SilentPeer peer;
    const ScratchFolder folder;
    const std::string config = folder.write("gateway.ini", fleet_settings(options.fleet, hung, peer.port()));
    GatewayProcess gateway({options.program, config, {}});
    const Crowd crowd(gateway.endpoints().at(0), options.fleet.subscribers);
    end_in_order.wait_seconds(options.warm_up_seconds);
    measure_running(report, name, options, {end_in_order, gateway.id(), crowd});
    const FleetStatus status = read_fleet_status(status_at(gateway.rest_address()));
    require(status.devices == options.fleet.devices, "/status lists " + std::to_string(status.devices) + " of " +
                                                         std::to_string(options.fleet.devices) +
                                                         " devices that respond");
    require(status.reads_failed == 0, std::to_string(status.reads_failed) + " readings failed");
    require(peer.accepted() >= hung,
            std::to_string(hung) + " devices that hang made only " + std::to_string(peer.accepted()) + " connections");
    add_status(report, name, status);
    (void)gateway.stop();
}

Report measure(const DevicesOptions& options, std::size_t runs) {
    const std::string alone = "alone: ";
    const std::string with_hung = "with " + std::to_string(options.hung) + " that hang: ";
    Report report{"devices", "one gateway_app, without its subscribers"};
    const Fleet& fleet = options.fleet;
    report.ratios_heading = "ratio: with hanging devices / alone, run by run";
    report.parameters = {
        {"samples", text_of(fleet.rate * static_cast<double>(fleet.samples_per_reading())) + " per second"},
        {"queue", std::to_string(fleet.queue_size()) + " samples"}};
    for (std::size_t run = 0; run < runs; ++run) {
        show_run(run, runs, "alone");
        run_fleet(report, alone, options, 0);
        show_run(run, runs, "with " + std::to_string(options.hung) + " that hang");
        run_fleet(report, with_hung, options, options.hung);
    }
    const auto compare = [&](const std::string& figure, const Goal& goal = {}) {
        report.add_ratio(figure, with_hung + figure, alone + figure, goal);
    };
    compare("late p50, us");
    compare("late p99, us", Goal::at_most(1.2));
    compare("late p99 of the worst device, us");
    return report;
}

void add_options(CLI::App& app, DevicesOptions& chosen) {
    const std::size_t devices_max = find_section("device")->count_max;
    Fleet& fleet = chosen.fleet;
    app.add_option("--app", chosen.program, "gateway_app to measure")->check(CLI::ExistingFile);
    app.add_option("--devices", fleet.devices, "Devices that respond")
        ->check(CLI::Range(std::size_t{1}, devices_max - 1));
    app.add_option("--channels", fleet.channels, "Channels per device")->check(CLI::Range(1, copies_max));
    app.add_option("--rate", fleet.rate, "Readings per second of each device")->check(CLI::Range(0.1, 1'000.0));
    app.add_option("--align", fleet.align, "Whether deadlines are spread, or count from the start")
        ->check(CLI::IsMember({"spread", "start"}));
    app.add_option("--subscribers", fleet.subscribers, "Subscribers of all samples")->check(CLI::Range(1, 64));
    app.add_option("--hung", chosen.hung, "Additional devices that hang, in every other measurement")
        ->check(CLI::Range(std::size_t{1}, devices_max - 1));
    app.add_option("--seconds", chosen.seconds, "Seconds per measurement")->check(CLI::Range(0.05, seconds_max));
    app.add_option("--warm-up", chosen.warm_up_seconds, "Seconds before each measurement")
        ->check(CLI::Range(0.05, seconds_max));
    app.callback([&chosen, devices_max] {
        if (chosen.fleet.devices + chosen.hung > devices_max) {
            throw CLI::ValidationError("--devices",
                                       "must be at most " + std::to_string(devices_max) + " together with --hung");
        }
    });
}

}  // namespace

Command::Action describe_devices_command(CLI::App& app) {
    return make_action<DevicesOptions>(app, add_options, measure);
}

}  // namespace telegate::perf
