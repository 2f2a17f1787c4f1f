#include "command.hpp"
#include "pipeline/line_run.hpp"
#include "pipeline/rate_search.hpp"
#include "pipeline/wake_ups.hpp"

#include "config/payload_format.hpp"
#include "config/setting_rules.hpp"
#include "core/bounded_queue.hpp"
#include "core/telemetry_sample.hpp"

#include <algorithm>

namespace telegate::perf {

namespace {

constexpr const char* received_by_all = "received by all, samples/s";

constexpr std::uint64_t rate_least = 1'000;  // of a search
constexpr std::uint64_t rate_most = 100'000'000;
constexpr std::string_view highest = "max";

struct PipelineOptions {
    std::string rate = "100000";
    double seconds = 5;
    std::uint64_t samples = 0;  // instead of the seconds, if not 0
    std::int64_t tick_us = 1'000;
    LineWork work;  // without rate, samples and tick
    bool compares_log = false;
};

/// A run, and the wake-ups of the machine at the interval of its ticks before and after it.
struct Measured {
    LineResult line;
    DelayCounts eventfd;
    DelayCounts tcp;
};

std::uint64_t samples_in(double seconds, std::uint64_t rate) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds * static_cast<double>(rate)));
}

/// Returns whether all samples were produced and received at the requested rate, without losses.
bool sustained(const LineWork& work, const LineResult& result) {
    constexpr double share = 0.98;  // the time includes the first tick and the receipt of the last sample
    const double nominal_seconds = static_cast<double>(work.samples) / static_cast<double>(work.rate);
    return result.lossless() && result.offered == work.samples && result.seconds * share <= nominal_seconds;
}

Measured measure(const LineWork& work) {
    constexpr std::chrono::milliseconds wake_up_time{1'000};
    const auto interval = work.tick();
    const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(wake_up_time / interval, 10, 1'000));
    Measured measured;
    const auto measure_machine = [&] {
        measured.eventfd.add(measure_wake_ups<EventfdBell>(interval, count));
        measured.tcp.add(measure_wake_ups<TcpBell>(interval, count));
    };
    measure_machine();
    measured.line = run_line(work);
    measure_machine();
    return measured;
}

/// Returns the highest rate that a short trial sustains.
std::uint64_t find_rate(LineWork work, Steps& steps) {
    constexpr double trial_seconds = 1;
    constexpr RateRange range{rate_least, 500'000, rate_most};
    return highest_rate(range, [&](std::uint64_t rate) {
        steps.next("trial of " + std::to_string(rate) + " samples/s");
        work.rate = rate;
        work.samples = samples_in(trial_seconds, rate);
        return sustained(work, run_line(work));
    });
}

LineWork work_at(const PipelineOptions& options, std::uint64_t rate) {
    LineWork work = options.work;
    work.tick_min = std::chrono::microseconds(options.tick_us);
    work.rate = rate;
    work.samples = options.samples != 0 ? options.samples : samples_in(options.seconds, rate);
    if (work.ticks() > static_cast<double>(ticks_max)) {
        throw std::runtime_error("too many ticks per run: " + text_of(work.ticks()) + "; must be at most " +
                                 std::to_string(ticks_max) + ": reduce --seconds");
    }
    return work;
}

/// Measures whole runs at the rate found, which decreases by a tenth until all runs sustain it.
std::vector<Measured> measure_highest(const PipelineOptions& options, Steps& steps, LineWork& work) {
    work = options.work;
    work.tick_min = std::chrono::microseconds(options.tick_us);
    work = work_at(options, find_rate(work, steps));
    std::vector<Measured> all;
    while (all.size() < steps.runs()) {
        steps.next(std::to_string(work.rate) + " samples/s");
        all.push_back(measure(work));
        if (!sustained(work, all.back().line)) {
            all.clear();
            if (work.rate < rate_least) {
                throw std::runtime_error("no rate is sustained for a whole run");
            }
            work = work_at(options, work.rate - work.rate / 10);
        }
    }
    return all;
}

void add_line(Report& report, const std::string& prefix, const LineWork& work, const LineResult& line) {
    const auto add = [&](const char* name, double value, const Goal& goal = {}) {
        report.add(prefix + name, value, goal);
    };
    const auto count = [](std::uint64_t number) {
        return static_cast<double>(number);
    };
    const double seconds = std::max(line.seconds, 1e-3);  // a single tick takes no time
    const double samples = std::max(1.0, count(line.offered));
    add("offered, samples/s", count(line.offered) / std::max(line.offering_seconds, 1e-3));
    add(received_by_all, count(line.received) / seconds);
    add("lost, samples", count(line.lost_at_queue + line.lost_at_backlogs), Goal::at_most(0));
    add("delay p50, us", line.delays.quantile_us(0.5));
    add("delay p99, us", line.delays.quantile_us(0.99));
    add("delay p99.9, us", line.delays.quantile_us(0.999));
    add("delay max, us", line.delays.maximum_us());
    add("CPU of tg-sample, ns/sample", count(line.sampling.cpu_ns) / samples);
    add("CPU of tg-io, ns/sample", count(line.io.cpu_ns) / samples);
    add("CPU of the subscribers, ns/sample", count(line.receiving.cpu_ns) / samples);
    add("additional memory, MiB", line.memory_more_mib);
    if (work.has_log) {
        add("CPU of tg-log, ns/sample", count(line.logging.cpu_ns) / samples);
        add("lost by the log, samples", count(line.lost_by_log), Goal::at_most(0));
    }
    add("wake-ups of tg-sample, /s", count(line.sampling.wake_ups) / seconds);
    add("wake-ups of tg-io, /s", count(line.io.wake_ups) / seconds);
    // One per sample, and one per second when the publisher checks the deadlines of its peers.
    add("wake-ups of tg-io, /sample", count(line.io.wake_ups) / samples, work.rate == 10 ? Goal::at_most(1.2) : Goal{});
    add("wake-ups of the subscribers, /s", count(line.receiving.wake_ups) / seconds);
    add("preemptions of tg-sample and tg-io, /s", count(line.sampling.preemptions + line.io.preemptions) / seconds);
    add("samples in one message", count(line.received) / std::max(1.0, count(line.messages)));
    add("maximum queue depth, samples", count(line.queue_high_water));
}

/// Adds each run when it is complete.
std::vector<Measured> measure_all(const LineWork& work, Steps& steps, Report& report) {
    steps.expect(steps.runs());
    std::vector<Measured> all;
    while (all.size() < steps.runs()) {
        steps.next(std::to_string(work.rate) + " samples/s");
        all.push_back(measure(work));
        require_lossless(all.back().line);
        add_line(report, "", work, all.back().line);
    }
    return all;
}

/// Adds the wake-ups of the machine and compares the delays with them.
void add_machine(Report& report, const char* name, DelayCounts Measured::*wake_ups, const std::vector<Measured>& all) {
    const std::string late = std::string("wake-up by ") + name + " p99, us";
    for (const Measured& one : all) {
        report.add(std::string("wake-up by ") + name + " p50, us", (one.*wake_ups).quantile_us(0.5));
        report.add(late, (one.*wake_ups).quantile_us(0.99));
    }
    report.add_ratio(std::string("delay p99 over wake-up by ") + name, "delay p99, us", late);
}

struct NamedWork {
    std::string name;
    LineWork work;
};
struct Comparison {
    NamedWork before;
    NamedWork after;
    std::vector<std::pair<const char*, Goal>> ratios;  // by figure
};

/// Measures a workload before and after a change, in turn.
void compare(Report& report, const Comparison& comparison, Steps& steps) {
    const auto& [before, after, ratios] = comparison;
    report.ratios_heading = after.name + " over " + before.name + ", run by run";
    steps.expect(2 * steps.runs());
    for (std::size_t run = 0; run < steps.runs(); ++run) {
        for (const NamedWork* const each : {&before, &after}) {
            steps.next(each->name);
            const LineResult line = run_line(each->work);
            require_lossless(line);
            add_line(report, each->name + ": ", each->work, line);
        }
    }
    for (const auto& [figure, goal] : ratios) {
        report.add_ratio(figure, after.name + ": " + figure, before.name + ": " + figure, goal);
    }
}

/// Returns options for a rate that nothing sustains, without losses: each part waits for the next one, so the slowest
/// one determines the rate of reception.
PipelineOptions unlimited(PipelineOptions options) {
    constexpr std::uint64_t rate = 20'000'000;
    constexpr std::uint64_t rate_expected = 4'000'000;
    options.work.policy = options.work.slow_policy = "block";
    options.samples = options.samples != 0 ? options.samples : samples_in(options.seconds, rate_expected);
    options.rate = std::to_string(rate);
    return options;
}

void compare_log(const PipelineOptions& chosen, Steps& steps, Report& report) {
    const PipelineOptions options = chosen.rate == highest ? unlimited(chosen) : chosen;
    const LineWork without = work_at(options, number_in(options.rate));
    LineWork with = without;
    with.has_log = true;
    report = {"pipeline", "all tcp subscribers"};
    compare(report,
            {{"without log", without},
             {"with log", with},
             {{received_by_all, Goal::at_least(0.9)},
              {"delay p50, us", {}},
              {"delay p99, us", Goal::at_most(1.1)},
              {"CPU of tg-io, ns/sample", {}}}},
            steps);
}

void measure_pipeline(const PipelineOptions& options, Steps& steps, Report& report) {
    if (options.compares_log) {
        return compare_log(options, steps, report);
    }
    const bool is_highest = options.rate == highest;
    LineWork work = is_highest ? LineWork{} : work_at(options, number_in(options.rate));
    report = {"pipeline", "all tcp subscribers"};
    report.ratios_heading = "of the machine, run by run";
    const std::vector<Measured> all =
        is_highest ? measure_highest(options, steps, work) : measure_all(work, steps, report);
    report.parameters = {{"load", std::to_string(work.samples) + " samples, " + std::to_string(work.rate) +
                                      " per second" + (is_highest ? ", the highest sustained" : "")}};
    if (is_highest) {
        for (const Measured& one : all) {
            add_line(report, "", work, one.line);
        }
    }
    if (is_highest && work.subscribers == 1 && work.format != "cbor") {
        std::ranges::find(report.rows, received_by_all, &Row::name)->goal =
            Goal::at_least(work.format == "json" ? 4e6 : 12e6);
    }
    add_machine(report, "eventfd", &Measured::eventfd, all);
    add_machine(report, "tcp", &Measured::tcp, all);
    if (work.rate == 100'000 && work.subscribers == 4) {
        report.ratios.back().goal = Goal::at_most(5);  // subscribers are woken by tcp
    }
}

void add_options(CLI::App& app, PipelineOptions& chosen) {
    LineWork& work = chosen.work;
    app.add_option("--channels", work.channels, "Channels of the device, in turn")
        ->check(CLI::Range(std::size_t{1}, channels_max));
    app.add_option("--subscribers", work.subscribers, "Subscribers that read all samples")->check(CLI::Range(1, 64));
    app.add_option("--format", work.format, "Payload format")->check(CLI::IsMember(payload_format_names.names));
    app.add_option("--rate", chosen.rate, "Samples per second; max: the highest rate sustained without losses")
        ->check(number_or(highest, rate_most));
    auto* const seconds = app.add_option("--seconds", chosen.seconds, "Seconds per run");
    seconds->check(CLI::Range(0.01, 3'600.0));
    app.add_option("--samples", chosen.samples, "Samples per run; overrides --seconds unless 0")
        ->check(CLI::Range(0, 1'000'000'000))
        ->excludes(seconds);
    app.add_option("--tick", chosen.tick_us, "Minimum microseconds between readings of the device")
        ->check(CLI::Range(10, 1'000'000));
    app.add_option("--queue", work.queue_size, "Capacity of the queue in samples")
        ->check(CLI::Range(std::size_t{1}, BoundedQueue<TelemetrySample>::capacity_max));
    app.add_option("--policy", work.policy, "Policy of a full queue")->check(CLI::IsMember(rules::overflow_policies));
    app.add_flag("--log", chosen.compares_log,
                 "Measure without and with a durable log in turn; with rate max, each part waits for the next one");
}

}  // namespace

Command::Action describe_pipeline_command(CLI::App& app) {
    return make_action<PipelineOptions>(app, add_options, measure_pipeline);
}

}  // namespace telegate::perf
