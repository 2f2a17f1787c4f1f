#include "command.hpp"
#include "pipeline/line_run.hpp"
#include "pipeline/load.hpp"
#include "pipeline/rate_search.hpp"
#include "pipeline/wake_ups.hpp"

#include "config/payload_format.hpp"
#include "core/bounded_queue.hpp"
#include "core/telemetry_sample.hpp"

#include <charconv>
#include <iostream>
#include <memory>

namespace telegate::perf {

namespace {

constexpr std::uint64_t rate_least = 1'000;  // of a search
constexpr std::uint64_t rate_most = 100'000'000;
constexpr std::string_view highest = "max";

struct PipelineOptions {
    std::string rate = "100000";
    double seconds = 5;
    std::uint64_t samples = 0;  // instead of the seconds, if not 0
    std::int64_t tick_us = 1'000;
    LineWork work;  // without rate, samples and tick
};

/// A run, and the wake-ups of the machine at the interval of its ticks before and after it.
struct Measured {
    LineResult line;
    DelayCounts eventfd;
    DelayCounts tcp;
};

std::uint64_t number_of(const std::string& rate) {
    std::uint64_t number = 0;
    const auto [end, fault] = std::from_chars(rate.data(), rate.data() + rate.size(), number);
    return fault == std::errc() && end == rate.data() + rate.size() ? number : 0;
}

std::uint64_t samples_in(double seconds, std::uint64_t rate) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds * static_cast<double>(rate)));
}

/// Returns whether all samples were produced and received at the requested rate, without losses.
bool sustained(const LineWork& work, const LineResult& result) {
    constexpr double share = 0.98;  // the time includes the first tick and the last reception
    const double nominal_seconds = static_cast<double>(work.samples) / static_cast<double>(work.rate);
    return result.lossless() && result.offered == work.samples && result.seconds * share <= nominal_seconds;
}

Measured measure(const LineWork& work) {
    constexpr std::chrono::milliseconds wake_up_time{1'000};
    const auto interval = tick_of(work);
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
std::uint64_t find_rate(LineWork work) {
    constexpr double trial_seconds = 1;
    constexpr RateRange range{rate_least, 500'000, rate_most};
    return highest_rate(range, [&](std::uint64_t rate) {
        work.rate = rate;
        work.samples = samples_in(trial_seconds, rate);
        const LineResult result = run_line(work);
        const bool good = sustained(work, result);
        std::cerr << "trial of " << rate << " samples/s: " << (good ? "sustained" : "not sustained") << '\n';
        return good;
    });
}

LineWork work_at(const PipelineOptions& options, std::uint64_t rate) {
    LineWork work = options.work;
    work.rate = rate;
    work.samples = options.samples != 0 ? options.samples : samples_in(options.seconds, rate);
    const double ticks = static_cast<double>(work.samples) / static_cast<double>(rate) * 1e9 /
                         static_cast<double>(tick_of(work).count());
    if (ticks > static_cast<double>(ticks_max)) {
        throw std::runtime_error("too many ticks per run: " + text_of(ticks) + "; must be at most " +
                                 std::to_string(ticks_max) + ": reduce --seconds");
    }
    return work;
}

std::vector<Measured> measure_all(const LineWork& work, std::size_t runs) {
    std::vector<Measured> all;
    while (all.size() < runs) {
        show_run(all.size(), runs, std::to_string(work.rate) + " samples/s");
        all.push_back(measure(work));
        require_lossless(all.back().line);
    }
    return all;
}

/// Measures whole runs at the rate found, which decreases by a tenth until all runs sustain it.
std::vector<Measured> measure_highest(const PipelineOptions& options, std::size_t runs, LineWork& work) {
    work = work_at(options, find_rate(options.work));
    std::vector<Measured> all;
    while (all.size() < runs) {
        all.push_back(measure(work));
        if (!sustained(work, all.back().line)) {
            std::cerr << work.rate << " samples/s: not sustained for a whole run\n";
            all.clear();
            if (work.rate < rate_least) {
                throw std::runtime_error("no rate is sustained for a whole run");
            }
            work = work_at(options, work.rate - work.rate / 10);
        }
    }
    return all;
}

void add_line(Report& report, const LineWork& work, const LineResult& line, bool is_highest) {
    const auto count = [](std::uint64_t number) {
        return static_cast<double>(number);
    };
    const double seconds = std::max(line.seconds, 1e-3);  // a single tick takes no time
    const double samples = std::max(1.0, count(line.offered));
    const bool has_rate_goal = is_highest && work.subscribers == 1 && work.format != "cbor";
    report.add("offered, samples/s", count(line.offered) / std::max(line.offering_seconds, 1e-3));
    report.add("received by all, samples/s", count(line.received) / seconds,
               has_rate_goal ? Goal::at_least(work.format == "json" ? 4e6 : 12e6) : Goal{});
    report.add("lost, samples", count(line.lost_at_queue + line.lost_at_backlogs), Goal::at_most(0));
    report.add("delay p50, us", line.delays.quantile_us(0.5));
    report.add("delay p99, us", line.delays.quantile_us(0.99));
    report.add("delay p99.9, us", line.delays.quantile_us(0.999));
    report.add("delay max, us", line.delays.maximum_us());
    report.add("CPU of tg-sample, ns/sample", count(line.sampling.cpu_ns) / samples);
    report.add("CPU of tg-io, ns/sample", count(line.io.cpu_ns) / samples);
    report.add("CPU of the subscribers, ns/sample", count(line.receiving.cpu_ns) / samples);
    report.add("wake-ups of tg-sample, /s", count(line.sampling.wake_ups) / seconds);
    report.add("wake-ups of tg-io, /s", count(line.io.wake_ups) / seconds);
    // One per sample, and one per second when the publisher checks the deadlines of its peers.
    report.add("wake-ups of tg-io, /sample", count(line.io.wake_ups) / samples,
               work.rate == 10 ? Goal::at_most(1.2) : Goal{});
    report.add("wake-ups of the subscribers, /s", count(line.receiving.wake_ups) / seconds);
    report.add("preemptions of tg-sample and tg-io, /s",
               count(line.sampling.preemptions + line.io.preemptions) / seconds);
    report.add("samples in one message", count(line.received) / std::max(1.0, count(line.messages)));
    report.add("queue at its fullest, samples", count(line.queue_high_water));
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

Report run(const PipelineOptions& options, std::size_t runs) {
    const bool is_highest = options.rate == highest;
    LineWork work = is_highest ? LineWork{} : work_at(options, number_of(options.rate));
    const std::vector<Measured> all = is_highest ? measure_highest(options, runs, work) : measure_all(work, runs);
    Report report{"pipeline", "all tcp subscribers"};
    report.ratios_heading = "of the machine, run by run";
    report.parameters = {
        {"rate", std::to_string(work.rate) + " samples/s" + (is_highest ? ", the highest sustained" : "")},
        {"samples", std::to_string(work.samples) + " per run"},
        {"tick", std::to_string(tick_of(work).count() / 1'000) + " us"},
        {"channels", std::to_string(work.channels)},
        {"subscribers", std::to_string(work.subscribers) + ", each with a thread, over tcp"},
        {"format", work.format},
        {"queue", std::to_string(work.queue_size) + " samples, " + work.policy},
        {"runs", std::to_string(runs)},
        {"delay", "of every sample, from its capture until the subscriber has its batch"}};
    for (const Measured& one : all) {
        add_line(report, work, one.line, is_highest);
    }
    add_machine(report, "eventfd", &Measured::eventfd, all);
    add_machine(report, "tcp", &Measured::tcp, all);
    if (work.rate == 100'000 && work.subscribers == 4) {
        report.ratios.back().goal = Goal::at_most(5);  // subscribers are woken by tcp
    }
    return report;
}

std::string check_rate(const std::string& text) {
    const std::uint64_t number = number_of(text);
    const bool good = text == highest || (number >= 1 && number <= rate_most);
    return good ? "" : "invalid rate \"" + text + "\": must be 1 to " + std::to_string(rate_most) + ", or max";
}

}  // namespace

Command::Action describe_pipeline_command(CLI::App& options) {
    const auto chosen = std::make_shared<PipelineOptions>();
    LineWork& work = chosen->work;
    options.add_option("--rate", chosen->rate, "Samples per second; max: the highest rate sustained without losses")
        ->check(check_rate);
    options.add_option("--channels", work.channels, "Channels of the device, in turn")
        ->check(CLI::Range(std::size_t{1}, channels_max));
    options.add_option("--subscribers", work.subscribers, "Subscribers of all samples")->check(CLI::Range(1, 64));
    options.add_option("--format", work.format, "Payload format")->check(CLI::IsMember(payload_format_names.names));
    auto* const seconds = options.add_option("--seconds", chosen->seconds, "Seconds per run");
    seconds->check(CLI::Range(0.01, 3'600.0));
    options.add_option("--samples", chosen->samples, "Samples per run; overrides --seconds unless 0")
        ->check(CLI::Range(0, 1'000'000'000))
        ->excludes(seconds);
    options.add_option("--tick", chosen->tick_us, "Minimum microseconds between readings of the device")
        ->check(CLI::Range(10, 1'000'000));
    options.add_option("--queue", work.queue_size, "Capacity of the queue in samples")
        ->check(CLI::Range(std::size_t{1}, BoundedQueue<TelemetrySample>::capacity_max));
    options.add_option("--policy", work.policy, "Policy of a full queue")
        ->check(CLI::IsMember({"drop_oldest", "drop_newest", "block"}));
    return [chosen](std::size_t runs) {
        chosen->work.tick_min = std::chrono::microseconds(chosen->tick_us);
        return run(*chosen, runs);
    };
}

}  // namespace telegate::perf
