#include "app/gateway.hpp"
#include "command.hpp"
#include "config/load.hpp"
#include "log/log.hpp"
#include "plan/plan.hpp"
#include "rest/bare_server.hpp"
#include "rest/request_load.hpp"
#include "rest/rest_settings.hpp"
#include "status/status_json.hpp"

#include <array>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace telegate::perf {

namespace {

constexpr double speed_goal = 0.9;

struct RestCommandOptions {
    std::vector<std::size_t> connections{1, 8};
    double seconds = 2;
    bool own_client = false;
};

/// The servers, side by side for the whole time, so that each runs beside the same others.
struct Servers {
    Servers() : Servers(parse_settings(rest_settings, "perf_tool")) {}
    explicit Servers(const Settings& settings) : gateway(settings, make_plan(settings), log) {
        gateway.start();
        // Of the size that GET /status has, once there is a sample of every channel.
        (void)load_by_threads({.address = gateway.rest_address(), .seconds = 0.5});
        body_bytes = status_json(gateway.snapshot().value()).size();
        bare = std::make_unique<BareServer>(std::string(body_bytes, 'x'));
    }

    Log log{"off"};
    Gateway gateway;
    std::size_t body_bytes = 0;
    std::unique_ptr<BareServer> bare;
};

struct ServerRows {
    Row speed;
    Row p50;
    Row p99;

    explicit ServerRows(const std::string& name)
        : speed{name + ", requests/s", {}}, p50{name + ", p50 us", {}}, p99{name + ", p99 us", {}} {}
    void add(const LoadFigures& figures) {
        speed.values.push_back(figures.requests_per_s);
        p50.values.push_back(figures.p50_us);
        p99.values.push_back(figures.p99_us);
    }
};

/// Both servers with so many connections.
struct ServerPair {
    std::size_t connections;
    ServerRows gateway;
    ServerRows bare;

    explicit ServerPair(std::size_t count)
        : connections(count), gateway("gateway, " + words(count)), bare("bare, " + words(count)) {}
    static std::string words(std::size_t count) {
        return std::to_string(count) + (count == 1 ? " client" : " clients");
    }
};

Report describe(const RestCommandOptions& options, const CommonOptions& common, bool by_wrk, std::size_t body_bytes) {
    std::ostringstream time;
    time << options.seconds << " s for each server in each run";
    Report report{"rest", "requests a second, or microseconds", {}, {}, {}};
    report.ratios_heading = "gateway over bare, run by run";
    report.parameters = {
        {"runs", std::to_string(common.runs) + ", both servers in turn"},
        {"time", time.str()},
        {"client", by_wrk ? "wrk, one thread" : "a thread of this process for each connection"},
        {"gateway", "GET /status of a whole gateway that samples and publishes"},
        {"bare", "cpp-httplib with its own loop, a fixed body of " + std::to_string(body_bytes) + " bytes"}};
    return report;
}

Report measure(const RestCommandOptions& options, const CommonOptions& common) {
    const bool by_wrk = !options.own_client && has_wrk();
    const auto load = by_wrk ? &load_by_wrk : &load_by_threads;
    Servers servers;
    std::vector<ServerPair> pairs(options.connections.begin(), options.connections.end());
    for (std::size_t run = 0; run < common.runs; ++run) {
        for (ServerPair& pair : pairs) {
            std::cerr << "run " << run + 1 << " of " << common.runs << ", " << ServerPair::words(pair.connections)
                      << '\n';
            RequestLoad request{.connections = pair.connections, .seconds = options.seconds};
            request.address = servers.gateway.rest_address();
            pair.gateway.add(load(request));
            request.address = servers.bare->address();
            pair.bare.add(load(request));
        }
    }
    Report report = describe(options, common, by_wrk, servers.body_bytes);
    for (ServerPair& pair : pairs) {
        for (const ServerRows* const cell : {&pair.gateway, &pair.bare}) {
            report.rows.insert(report.rows.end(), {cell->speed, cell->p50, cell->p99});
        }
        Row speed = ratio(ServerPair::words(pair.connections) + ", requests/s", pair.gateway.speed, pair.bare.speed);
        speed.goal = Goal::at_least(speed_goal);
        report.ratios.push_back(std::move(speed));
        report.ratios.push_back(ratio(ServerPair::words(pair.connections) + ", p50", pair.gateway.p50, pair.bare.p50));
    }
    return report;
}

}  // namespace

Command::Action describe_rest_command(CLI::App& options) {
    const auto chosen = std::make_shared<RestCommandOptions>();
    options.add_option("--connections", chosen->connections, "Clients at once, with commas between")
        ->delimiter(',')
        ->check(CLI::Range(std::size_t{1}, std::size_t{64}))
        ->capture_default_str();
    options.add_option("--seconds", chosen->seconds, "Time of each server in each run; wrk takes whole ones")
        ->check(CLI::Range(0.05, 3'600.0))
        ->capture_default_str();
    options.add_flag("--own-client", chosen->own_client, "Not wrk, though it is there");
    return [chosen](const CommonOptions& common) {
        return measure(*chosen, common);
    };
}

}  // namespace telegate::perf
