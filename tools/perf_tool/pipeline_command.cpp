#include "command.hpp"
#include "pipeline/line.hpp"

#include "config/setting_rules.hpp"
#include "core/bounded_queue.hpp"
#include "core/telemetry_sample.hpp"

namespace telegate::perf {

namespace {

constexpr const char* received_by_all = "received by all, samples/s";
constexpr const char* table_title = "all tcp subscribers";
constexpr std::uint64_t rate_least = 1'000;  // of a search
constexpr std::uint64_t rate_most = 100'000'000;
constexpr std::string_view highest = "max";

struct PipelineOptions {
    std::string rate = "100000";
    double seconds = 5;
    std::uint64_t samples = 0;  // instead of the seconds, if not 0
    LineWork work;              // without rate and samples
    bool compares_log = false;
};

std::uint64_t samples_in(double seconds, std::uint64_t rate) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds * static_cast<double>(rate)));
}

LineWork work_at(const PipelineOptions& options, std::uint64_t rate) {
    constexpr double ticks_max = 1'000'000;  // their times use 16 MiB
    LineWork work = options.work;
    work.rate = rate;
    work.samples = options.samples != 0 ? options.samples : samples_in(options.seconds, rate);
    if (work.ticks() > ticks_max) {
        throw std::runtime_error("the runs are too long: must be at most a million milliseconds: reduce --seconds");
    }
    return work;
}

/// Returns whether all samples were produced and received at the requested rate, without losses.
bool sustained(const LineWork& work, const LineResult& result) {
    constexpr double share = 0.98;  // the time includes the first tick and the receipt of the last sample
    const double nominal_seconds = static_cast<double>(work.samples) / static_cast<double>(work.rate);
    return result.lossless() && result.offered == work.samples && result.seconds * share <= nominal_seconds;
}

/// Throws std::runtime_error if subscribers missed samples.
LineResult run_lossless(const LineWork& work) {
    LineResult result = run_line(work);
    if (!result.lossless()) {
        throw std::runtime_error("samples were lost: the queue dropped " + std::to_string(result.lost_at_queue) +
                                 " of " + std::to_string(result.offered) + ", the backlogs dropped " +
                                 std::to_string(result.lost_at_backlogs) + " messages");
    }
    return result;
}

void add_line(Report& report, const std::string& table, const LineWork& work, const LineResult& line) {
    const auto add = [&](const char* name, double value, const Goal& goal = {}) {
        report.add(table, name, value, goal);
    };
    const auto count = [](std::uint64_t number) {
        return static_cast<double>(number);
    };
    const double seconds = std::max(line.seconds, 1e-3);  // a single tick takes no time
    const double samples = std::max(1.0, count(line.offered));
    const bool has_goal = table.find("highest") != std::string::npos && work.subscribers == 1;
    add(received_by_all, count(line.received) / seconds,
        has_goal ? Goal::at_least(work.format == "json" ? 4e6 : 12e6) : Goal{});
    add("lost, samples", count(line.lost_at_queue + line.lost_at_backlogs), Goal::at_most(0));
    add("delay p50, us", line.delays.quantile_us(0.5));
    add("delay p99, us", line.delays.quantile_us(0.99));
    add("delay p99.9, us", line.delays.quantile_us(0.999));
    add("delay max, us", line.delays.maximum_us());
    add("CPU of tg-sample, ns/sample", count(line.sampling.cpu_ns) / samples);
    add("CPU of tg-io, ns/sample", count(line.io.cpu_ns) / samples);
    add("CPU of the subscribers, ns/sample", count(line.receiving.cpu_ns) / samples);
    if (work.has_log) {
        add("CPU of tg-log, ns/sample", count(line.logging.cpu_ns) / samples);
        add("lost by the log, samples", count(line.lost_by_log), Goal::at_most(0));
    }
    add("wake-ups of tg-sample, /s", count(line.sampling.wake_ups) / seconds);
    add("wake-ups of tg-io, /s", count(line.io.wake_ups) / seconds);
    // One per sample, and one per second when the publisher checks the deadlines of its peers.
    add("wake-ups of tg-io, /sample", count(line.io.wake_ups) / samples, work.rate == 10 ? Goal::at_most(1.2) : Goal{});
    add("wake-ups of the subscribers, /s", count(line.receiving.wake_ups) / seconds);
    add("maximum queue depth, samples", count(line.queue_high_water));
}

/// The highest rate that has been sustained, and the lowest that has not.
struct Search {
    double good = rate_least;
    double bad = rate_most;
    std::size_t verified = 0;  // runs

    [[nodiscard]] std::uint64_t middle() const { return static_cast<std::uint64_t>(std::sqrt(good * bad)); }
};

/// Each trial halves the range, until it is about 2 % of the rate. A rate fails after two attempts, because noise may
/// cause one failure.
Group trials(const PipelineOptions& options, const std::shared_ptr<Search>& search, Report& report) {
    constexpr int trials = 9;
    Group group{"search for the highest rate"};
    group.is_run_once = true;
    for (int trial = 1; trial <= trials; ++trial) {
        group.engines.push_back({"trial " + std::to_string(trial), [=, &report] {
                                     LineWork work = options.work;
                                     work.rate = search->middle();
                                     work.samples = work.rate;  // a second
                                     LineResult line = run_line(work);
                                     if (!sustained(work, line)) {
                                         line = run_line(work);
                                     }
                                     const bool holds = sustained(work, line);
                                     (holds ? search->good : search->bad) = static_cast<double>(work.rate);
                                     report.add("trials, " + std::string(received_by_all),
                                                std::to_string(work.rate) + (holds ? "" : ", not sustained"),
                                                static_cast<double>(line.received) / line.seconds);
                                 }});
    }
    return group;
}

/// Measures a whole run at the rate found. If it does not sustain the rate, all runs are measured again with a lower
/// one.
void verify(const PipelineOptions& options, Search& search, const std::string& table, Report& report) {
    const LineWork work = work_at(options, static_cast<std::uint64_t>(search.good));
    const LineResult line = run_line(work);
    if (sustained(work, line)) {
        add_line(report, table, work, line);
        ++search.verified;
        return;
    }
    std::erase_if(report.tables, [&](const Table& each) { return each.title == table; });
    search.verified = 0;
    search.good *= 0.9;
    if (search.good < rate_least) {
        throw std::runtime_error("no rate is sustained for a whole run");
    }
}

Group verification(const PipelineOptions& options, const std::shared_ptr<Search>& search, Report& report) {
    const std::string table = std::string(table_title) + ", highest rate";
    Group group{"the highest rate"};
    group.engines.push_back({"the whole path", [=, &report, runs = std::size_t{0}]() mutable {
                                 for (++runs; search->verified < runs;) {
                                     verify(options, *search, table, report);
                                 }
                             }});
    return group;
}

/// Returns options for a rate that nothing sustains, without losses: each part waits for the next one, so the slowest
/// one determines the rate of reception.
PipelineOptions unlimited(PipelineOptions options) {
    options.work.policy = options.work.slow_policy = "block";
    options.samples = options.samples != 0 ? options.samples : samples_in(options.seconds, 4'000'000);
    options.rate = "20000000";
    return options;
}

Group without_and_with_log(const PipelineOptions& chosen, Report& report) {
    const PipelineOptions options = chosen.rate == highest ? unlimited(chosen) : chosen;
    Group group{"pipeline"};
    for (const bool has_log : {false, true}) {
        LineWork work = work_at(options, number_in(options.rate));
        work.has_log = has_log;
        const std::string name = has_log ? "with log" : "without log";
        group.engines.push_back({name, [=, &report] {
                                     add_line(report, name, work, run_lossless(work));
                                 }});
    }
    group.finish = [&report] {
        for (const auto& [figure, goal] : {std::pair{received_by_all, Goal::at_least(0.9)},
                                           {"delay p50, us", {}},
                                           {"delay p99, us", Goal::at_most(1.1)},
                                           {"CPU of tg-io, ns/sample", {}}}) {
            report.add_ratio("with log over without log, run by run", figure,
                             {report.find("with log", figure), report.find("without log", figure)}, goal);
        }
    };
    return group;
}

Plan plan(const PipelineOptions& options, Report& report) {
    if (options.compares_log) {
        return {without_and_with_log(options, report)};
    }
    if (options.rate == highest) {
        const auto search = std::make_shared<Search>();
        return {trials(options, search, report), verification(options, search, report)};
    }
    const LineWork work = work_at(options, number_in(options.rate));
    return {{options.rate + " samples/s", {{"the whole path", [=, &report] {
                                                add_line(report, table_title, work, run_lossless(work));
                                            }}}}};
}

void add_options(CLI::App& app, PipelineOptions& chosen) {
    LineWork& work = chosen.work;
    app.add_option("--channels", work.channels, "Channels of the device, in turn")
        ->check(CLI::Range(std::size_t{1}, channels_max));
    app.add_option("--subscribers", work.subscribers, "Subscribers that read all samples")->check(CLI::Range(1, 64));
    app.add_option("--format", work.format, "Payload format")->check(CLI::IsMember({"json", "record"}));
    app.add_option("--rate", chosen.rate, "Samples per second; max: the highest rate sustained without losses")
        ->check(number_or(highest, rate_most));
    auto* const seconds = app.add_option("--seconds", chosen.seconds, "Seconds per run");
    seconds->check(CLI::Range(0.01, 1'000.0));
    app.add_option("--samples", chosen.samples, "Samples per run; overrides --seconds unless 0")
        ->check(CLI::Range(0, 1'000'000'000))
        ->excludes(seconds);
    app.add_option("--queue", work.queue_size, "Capacity of the queue in samples")
        ->check(CLI::Range(std::size_t{1}, BoundedQueue<TelemetrySample>::capacity_max));
    app.add_option("--policy", work.policy, "Policy of a full queue")->check(CLI::IsMember(rules::overflow_policies));
    app.add_flag("--log", chosen.compares_log,
                 "Measure without and with a durable log in turn; with rate max, each part waits for the next one");
}

}  // namespace

Planner describe_pipeline_command(CLI::App& app) {
    return make_planner<PipelineOptions>(app, add_options, plan);
}

}  // namespace telegate::perf
