#include "command.hpp"
#include "gateway_process.hpp"
#include "system.hpp"

#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/subscriber.hpp"

#include <httplib.h>

#include <cstring>
#include <filesystem>
#include <regex>

namespace telegate::perf {

namespace {

constexpr const char* all_scenarios = "all";

/// The goals of a scenario; 0 for none.
struct FootprintGoals {
    double resident_kib = 0;
    double anonymous_kib = 0;
    double cpu_percent = 0;
    bool few_wake_ups = false;  // at most one per sample, and two per second
};

/// One way to run gateway_app.
struct Scenario {
    std::string name;
    std::string config;                      // a file
    std::vector<std::string> settings = {};  // "KEY=VALUE", which override those of the file
    std::size_t subscribers = 0;
    std::size_t polls_per_second = 0;  // of GET /status
    FootprintGoals goals = {};
};

std::vector<Scenario> usual_scenarios() {
    const std::string folder = TELEGATE_CONFIG_FOLDER;
    const std::string shipped = folder + "/gateway.ini";
    const std::string embedded = folder + "/embedded.ini";
    const std::string cloud = folder + "/cloud.ini";
    const FootprintGoals at_rest{10 * 1'024, 3 * 1'024, 0.1, true};  // with Debian's shared libraries
    // The goals of the three deployments are the lower ends of TelemetryHub's figures for them. 100 ms and one device
    // correspond to its figures of 4.5 MB and 3 to 5 %.
    return {
        {"shipped", shipped, {}, 0, 0, at_rest},
        {"100 ms", embedded, {"sampling_interval_ms=100", "queue_size=256"}, 0, 0, at_rest},
        {"queue of 256", shipped, {"queue_size=256"}, 0, 0, at_rest},
        {"queue of 65536", shipped, {"queue_size=65536"}},
        {"16 subscribers", shipped, {}, 16},
        {"REST at 10 Hz", shipped, {}, 0, 10},
        {"embedded", embedded, {}, 0, 0, {2 * 1'024, 0, 1, true}},
        {"high frequency", folder + "/high_frequency.ini", {}, 0, 0, {10 * 1'024, 0, 5, true}},
        {"cloud", cloud, {}, 0, 0, {20 * 1'024, 0, 3, true}},
        {"cloud, five-fold", cloud, {"device.simulated.burst_probability=1", "device.simulated.burst_samples=5"}, 1}};
}

struct FootprintOptions {
    std::string program = gateway_beside();
    std::string allocation_counter;             // the library; empty: allocations are not counted
    std::vector<std::string> names{"shipped"};  // of usual scenarios
    std::vector<std::string> configs;           // files to measure instead
    double seconds = 3;
    double warm_up_seconds = 1;
};

/// Returns the number of allocations from the file of a process that was started with the library. It is 0 if the
/// process could not load it, for example because it is linked statically.
std::uint64_t allocations_in(const std::string& path) {
    std::uint64_t calls = 0;
    std::memcpy(&calls, content_of(path).data(), sizeof calls);
    return calls;
}

/// A running gateway with its clients, which are served in wait().
/// Threads: one. Limits: none. Failure: as GatewayProcess; wait() throws std::runtime_error if a request fails, and
/// Interrupted.
class Stage {
  public:
    Stage(const Scenario& scenario, GatewayProcess::Setup setup)
        : scenario_(scenario), gateway_(with_settings(std::move(setup))) {
        while (subscribers_.size() < scenario.subscribers) {
            auto& subscriber = *subscribers_.emplace_back(std::make_unique<Subscriber>(reactor_, SocketOptions()));
            subscriber.subscribe("");
            subscriber.connect(std::get<Endpoint>(parse_endpoint(gateway_.endpoint())));
            subscriber.set_on_readable([this, &subscriber] {
                while (subscriber.receive(batch_)) {
                }
            });
        }
    }

    [[nodiscard]] pid_t id() const noexcept { return gateway_.id(); }
    /// Waits. Returns the time of each GET /status in microseconds, which has a new connection each time.
    std::vector<double> wait(double seconds) {
        const auto begin = std::chrono::steady_clock::now();
        std::vector<double> status_us;
        while (seconds_since(begin) < seconds) {
            wait_seconds(0);  // detects interrupts
            const double due = seconds_since(begin) * static_cast<double>(scenario_.polls_per_second);
            if (due > static_cast<double>(status_us.size())) {
                status_us.push_back(time_request());
            }
            reactor_.run_for(std::chrono::milliseconds(10));
        }
        return status_us;
    }
    /// Returns the log.
    std::string stop() { return gateway_.stop(); }

  private:
    [[nodiscard]] GatewayProcess::Setup with_settings(GatewayProcess::Setup setup) const {
        const std::string text = content_of(scenario_.config);
        if (text.empty()) {
            throw std::runtime_error("cannot read " + scenario_.config);
        }
        setup.config = folder_.write("gateway.ini", scratch_settings(text, folder_.path()));
        setup.settings = scenario_.settings;
        return setup;
    }
    [[nodiscard]] double time_request() const {
        const auto begin = std::chrono::steady_clock::now();
        httplib::Client client("http://" + gateway_.rest_address());
        const auto response = client.Get("/status");
        if (!response || response->status != 200) {
            throw std::runtime_error("GET /status failed");
        }
        return seconds_since(begin) * 1e6;
    }

    const Scenario scenario_;
    const ScratchFolder folder_;
    GatewayProcess gateway_;
    Reactor reactor_;
    std::vector<std::unique_ptr<Subscriber>> subscribers_;
    MessageBatch batch_;
};

/// Returns the sum of a ledger entry over all devices, from the log of a stopped gateway.
double in_ledger(const std::string& log, const std::string& key) {
    const std::regex entry(" ledger device=[^\n]* " + key + "=(\\d+)");
    double sum = 0;
    for (std::sregex_iterator next(log.begin(), log.end(), entry), end; next != end; ++next) {
        sum += std::stod((*next)[1]);
    }
    return sum;
}

/// Adds all figures of one run except the allocations.
void measure_running(Report& report, const FootprintOptions& options, const Scenario& scenario) {
    Stage stage(scenario, {options.program});
    const auto started = std::chrono::steady_clock::now();
    (void)stage.wait(options.warm_up_seconds);
    const std::vector<ThreadFigures> before = threads_of(stage.id());
    const auto begin = std::chrono::steady_clock::now();
    std::vector<double> status_us = stage.wait(options.seconds);
    const double seconds = seconds_since(begin);
    const std::vector<ThreadFigures> after = threads_of(stage.id());
    const ProcessMemory memory = memory_of(stage.id());
    const double ran_seconds = seconds_since(started);
    const std::string log = stage.stop();

    const auto add = [&](const char* figure, double value, const Goal& goal = {}) {
        report.add(scenario.name, figure, value, goal);
    };
    const auto at_most = [](double value) {
        return value > 0 ? Goal::at_most(value) : Goal{};
    };
    const FootprintGoals& goals = scenario.goals;
    const ThreadFigures all = since(before, after, "");
    const double wake_ups = static_cast<double>(all.wake_ups) / seconds;
    const double samples = in_ledger(log, "sampled") / ran_seconds;
    add("resident, KiB", memory.resident_kib, at_most(goals.resident_kib));
    add("proportional, KiB", memory.proportional_kib);
    add("anonymous, KiB", memory.anonymous_kib, at_most(goals.anonymous_kib));
    add("threads", static_cast<double>(after.size()));
    add("descriptors", static_cast<double>(memory.descriptors));
    add("CPU, % of one", static_cast<double>(all.cpu_ns) * 100 / 1e9 / seconds, at_most(goals.cpu_percent));
    add("samples, /s", samples);
    add("dropped, samples", in_ledger(log, "dropped_queue_overflow"), Goal::at_most(0));
    add("wake-ups, /s", wake_ups);
    add("context switches, /s", static_cast<double>(all.wake_ups + all.preemptions) / seconds);
    if (goals.few_wake_ups) {
        add("wake-ups beyond samples, /s", wake_ups - samples, Goal::at_most(2));
    }
    if (!status_us.empty()) {
        add("GET /status p50, us", quantile(status_us, 0.5));
        add("GET /status p99, us", quantile(status_us, 0.99));
    }
}

/// Adds the allocations, in a run of their own, because counting affects the other figures.
void count_allocations(Report& report, const FootprintOptions& options, const Scenario& scenario) {
    const ScratchFolder folder;
    const std::string path = folder.write("allocations", std::string(3 * sizeof(std::uint64_t), '\0'));
    Stage stage(
        scenario,
        {options.program, "", {}, {"TELEGATE_ALLOCATIONS=" + path, "LD_PRELOAD=" + options.allocation_counter}});
    (void)stage.wait(options.warm_up_seconds);
    const std::uint64_t before = allocations_in(path);
    (void)stage.wait(options.seconds);
    const std::uint64_t after = allocations_in(path);
    (void)stage.stop();
    if (after > 0) {
        report.add(scenario.name, "allocations, /s", static_cast<double>(after - before) / options.seconds);
    }
}

std::vector<Scenario> scenarios_of(const FootprintOptions& options) {
    std::vector<Scenario> scenarios;
    scenarios.reserve(options.configs.size());
    for (const std::string& config : options.configs) {
        scenarios.push_back({std::filesystem::path(config).stem().string(), config});
    }
    if (scenarios.empty()) {
        scenarios = usual_scenarios();
        std::erase_if(scenarios, [&names = options.names](const Scenario& scenario) {
            return !contains(names, all_scenarios) && !contains(names, scenario.name);
        });
    }
    return scenarios;
}

Plan plan(const FootprintOptions& options, Report& report) {
    report.parameters.emplace_back("allocations", options.allocation_counter.empty()
                                                      ? "not counted: the counter was not built"
                                                      : "counted in separate runs by a preloaded library");
    Plan groups;
    for (const Scenario& scenario : scenarios_of(options)) {
        Group& group = groups.emplace_back(Group{scenario.name});
        group.engines.push_back({"gateway_app", [=, &report] {
                                     measure_running(report, options, scenario);
                                 }});
        if (!options.allocation_counter.empty()) {
            group.engines.push_back({"allocations", [=, &report] {
                                         count_allocations(report, options, scenario);
                                     }});
        }
    }
    return groups;
}

void add_options(CLI::App& app, FootprintOptions& chosen) {
    const auto counter =
        std::filesystem::path(gateway_beside()).parent_path().parent_path() / "tools" / "libtelegate_allocations.so";
    chosen.allocation_counter = std::filesystem::exists(counter) ? counter.string() : "";
    std::vector<std::string> names{all_scenarios};
    for (const Scenario& scenario : usual_scenarios()) {
        names.push_back(scenario.name);
    }
    app.add_option("--app", chosen.program, "gateway_app to measure")->check(CLI::ExistingFile);
    auto* const scenario =
        app.add_option("--scenario", chosen.names, "Scenarios to measure, or all")->check(CLI::IsMember(names));
    app.add_option("--config", chosen.configs, "Settings files to measure instead")
        ->check(CLI::ExistingFile)
        ->excludes(scenario);
    app.add_option("--seconds", chosen.seconds, "Seconds per measurement")->check(CLI::Range(0.01, 3'600.0));
    app.add_option("--warm-up", chosen.warm_up_seconds, "Seconds before each measurement")
        ->check(CLI::Range(0.01, 3'600.0));
}

}  // namespace

Planner describe_footprint_command(CLI::App& app) {
    return make_planner<FootprintOptions>(app, add_options, plan);
}

}  // namespace telegate::perf
