#include "command.hpp"
#include "footprint/allocation_counts.hpp"
#include "footprint/gateway_process.hpp"
#include "footprint/scratch.hpp"
#include "footprint/status_client.hpp"
#include "process_figures.hpp"

#include "core/bounded_queue.hpp"
#include "core/telemetry_sample.hpp"

namespace telegate::perf {

namespace {

constexpr std::size_t queue_samples = 65'536;
constexpr double queue_sample_bytes_max = 64;
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
    std::string config;  // a file
    SettingChanges changes{};
    std::string more{};  // appended to the file, so for its last section
    std::size_t subscribers = 0;
    std::size_t polls_per_second = 0;  // of GET /status
    FootprintGoals goals{};
};

std::vector<Scenario> usual_scenarios() {
    const std::string folder = TELEGATE_CONFIG_FOLDER;
    const std::string shipped = folder + "/gateway.ini";
    const std::string embedded = folder + "/embedded.ini";
    const std::string cloud = folder + "/cloud.ini";
    const FootprintGoals at_rest{10 * 1'024, 3 * 1'024, 0.1, true};  // with Debian's shared libraries
    // The goals of the three deployments are the lower ends of TelemetryHub's figures for them. 100 ms and one device
    // correspond to its figures of 4.5 MB and 3 to 5 %.
    return {{"shipped", shipped, {}, "", 0, 0, at_rest},
            {"100 ms", embedded, {{"sampling_interval_ms", "100"}, {"queue_size", "256"}}, "", 0, 0, at_rest},
            {"queue of 256", shipped, {{"queue_size", "256"}}, "", 0, 0, at_rest},
            {"queue of 65536", shipped, {{"queue_size", "65536"}}},
            {"16 subscribers", shipped, {}, "", 16},
            {"REST at 10 Hz", shipped, {}, "", 0, 10},
            {"embedded", embedded, {}, "", 0, 0, {2 * 1'024, 0, 1, true}},
            {"high frequency", folder + "/high_frequency.ini", {}, "", 0, 0, {10 * 1'024, 0, 5, true}},
            {"cloud", cloud, {}, "", 0, 0, {20 * 1'024, 0, 3, true}},
            {"cloud, five-fold", cloud, {}, "burst_probability = 1\nburst_samples = 5\n", 1}};
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

/// A running gateway with its clients.
class Stage {
  public:
    Stage(const Scenario& scenario, GatewayProcess::Setup setup) : gateway_(with_settings(scenario, std::move(setup))) {
        if (scenario.subscribers > 0) {
            crowd_ = std::make_unique<Crowd>(gateway_.endpoints().at(0), scenario.subscribers);
        }
        if (scenario.polls_per_second > 0) {
            constexpr std::chrono::nanoseconds second = std::chrono::seconds(1);
            poller_ = std::make_unique<StatusClient>(gateway_.rest_address(),
                                                     second / static_cast<std::int64_t>(scenario.polls_per_second));
        }
    }

    [[nodiscard]] pid_t id() const noexcept { return gateway_.id(); }
    /// Stops the clients, then the gateway. Returns its log.
    std::string stop(std::vector<double>& status_us) {
        if (poller_ != nullptr) {
            status_us = poller_->stop();
        }
        crowd_.reset();
        return gateway_.stop();
    }

  private:
    GatewayProcess::Setup with_settings(const Scenario& scenario, GatewayProcess::Setup setup) const {
        const std::string text = content_of(scenario.config);
        if (text.empty()) {
            throw std::runtime_error("cannot read " + scenario.config);
        }
        setup.config = folder_.write("gateway.ini",
                                     scratch_settings(text + "\n" + scenario.more, scenario.changes, folder_.path()));
        return setup;
    }

    const ScratchFolder folder_;
    GatewayProcess gateway_;
    std::unique_ptr<Crowd> crowd_;
    std::unique_ptr<StatusClient> poller_;
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
    using Clock = std::chrono::steady_clock;
    Stage stage(scenario, {options.program, "", {}});
    const auto started = Clock::now();
    wait_seconds(options.warm_up_seconds);
    const std::vector<ThreadFigures> before = threads_of(stage.id());
    const auto begin = Clock::now();
    wait_seconds(options.seconds);
    const std::chrono::duration<double> time = Clock::now() - begin;
    const std::vector<ThreadFigures> after = threads_of(stage.id());
    const ProcessMemory memory = memory_of(stage.id());
    const std::chrono::duration<double> ran = Clock::now() - started;
    std::vector<double> status_us;
    const std::string log = stage.stop(status_us);

    const auto add = [&](const char* figure, double value, const Goal& goal = {}) {
        report.add(scenario.name + ": " + figure, value, goal);
    };
    const auto at_most = [](double value) {
        return value > 0 ? Goal::at_most(value) : Goal{};
    };
    const FootprintGoals& goals = scenario.goals;
    const ThreadFigures all = since(before, after, "");
    const double wake_ups = static_cast<double>(all.wake_ups) / time.count();
    const double samples = in_ledger(log, "sampled") / ran.count();
    add("resident, KiB", static_cast<double>(memory.resident_kib), at_most(goals.resident_kib));
    add("proportional, KiB", static_cast<double>(memory.proportional_kib));
    add("anonymous, KiB", static_cast<double>(memory.anonymous_kib), at_most(goals.anonymous_kib));
    add("threads", static_cast<double>(after.size()));
    add("descriptors", static_cast<double>(memory.descriptors));
    add("CPU, % of one", static_cast<double>(all.cpu_ns) * 100 / 1e9 / time.count(), at_most(goals.cpu_percent));
    add("samples, /s", samples);
    add("dropped, samples", in_ledger(log, "dropped_queue_overflow"), Goal::at_most(0));
    add("wake-ups, /s", wake_ups);
    add("context switches, /s", static_cast<double>(all.wake_ups + all.preemptions) / time.count());
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
    const std::string path = folder.write("allocations", std::string(sizeof(AllocationCounts), '\0'));
    Stage stage(scenario,
                {options.program,
                 "",
                 {std::string(allocation_file_variable) + "=" + path, "LD_PRELOAD=" + options.allocation_counter}});
    wait_seconds(options.warm_up_seconds);
    const std::uint64_t before = allocations_in(path);
    wait_seconds(options.seconds);
    const std::uint64_t after = allocations_in(path);
    std::vector<double> ignored;
    stage.stop(ignored);
    if (after > 0) {
        report.add(scenario.name + ": allocations, /s", static_cast<double>(after - before) / options.seconds);
    }
}

/// Adds the memory of an empty queue, and the memory per sample of a full one, measured in this process.
void measure_queue(Report& report) {
    constexpr double kib = 1'024;
    const auto anonymous_kib = [] {
        return static_cast<double>(memory_of(0).anonymous_kib);
    };
    const double before = anonymous_kib();
    BoundedQueue<TelemetrySample> queue(queue_samples, OverflowPolicy::drop_oldest);
    const double empty = anonymous_kib();
    for (std::size_t sample = 0; sample < queue_samples; ++sample) {
        queue.push(queue.first(), TelemetrySample{}, [](const TelemetrySample&, QueueLoss) {});
    }
    report.add("queue of 65536: empty, bytes", (empty - before) * kib);
    report.add("queue of 65536: full, bytes/sample", (anonymous_kib() - before) * kib / queue_samples,
               Goal::at_most(queue_sample_bytes_max));
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

void measure(const FootprintOptions& options, Steps& steps, Report& report) {
    report = {"footprint", "one gateway_app, without its clients"};
    report.parameters = {{"allocations", options.allocation_counter.empty()
                                             ? "not counted: the counter was not built"
                                             : "counted in separate runs by a preloaded library"}};
    const std::vector<Scenario> scenarios = scenarios_of(options);
    steps.expect(scenarios.size() * steps.runs());
    for (std::size_t run = 0; options.configs.empty() && run < steps.runs(); ++run) {
        measure_queue(report);
    }
    for (const Scenario& scenario : scenarios) {
        for (std::size_t run = 0; run < steps.runs(); ++run) {
            steps.next(scenario.name);
            measure_running(report, options, scenario);
            if (!options.allocation_counter.empty()) {
                count_allocations(report, options, scenario);
            }
        }
    }
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

Command::Action describe_footprint_command(CLI::App& app) {
    return make_action<FootprintOptions>(app, add_options, measure);
}

}  // namespace telegate::perf
