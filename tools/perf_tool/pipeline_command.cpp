#include "command.hpp"
#include "pipeline/line_rows.hpp"
#include "pipeline/line_run.hpp"
#include "pipeline/load_driver.hpp"
#include "pipeline/rate_search.hpp"
#include "pipeline/wake_ups.hpp"

#include "config/payload_format.hpp"
#include "core/bounded_queue.hpp"
#include "core/telemetry_sample.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

constexpr std::uint64_t rate_least = 1'000;  // of those that are tried
constexpr std::uint64_t rate_most = 100'000'000;
constexpr std::uint64_t samples_most = 1'000'000'000;
constexpr std::string_view highest = "max";

struct PipelineOptions {
    std::string rate = "100000";
    double seconds = 5;
    std::uint64_t samples = 0;  // instead of the seconds, when not zero
    std::int64_t tick_us = 1'000;
    LineWork work;  // without its rate, samples and tick
};

std::uint64_t number_of(const std::string& rate) {
    std::uint64_t number = 0;
    const auto [end, fault] = std::from_chars(rate.data(), rate.data() + rate.size(), number);
    return fault == std::errc() && end == rate.data() + rate.size() ? number : 0;
}

std::uint64_t samples_in(double seconds, std::uint64_t rate) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds * static_cast<double>(rate)));
}

/// Whether everything was offered at the rate asked for and received as fast, without a loss.
bool sustained(const LineWork& work, const LineResult& result) {
    constexpr double share = 0.98;  // the first tick and the last reception belong to the time
    const double nominal_seconds = static_cast<double>(work.samples) / static_cast<double>(work.rate);
    return result.lossless() && result.offered == work.samples && result.seconds * share <= nominal_seconds;
}

Measured measure(const LineWork& work) {
    constexpr std::chrono::milliseconds wake_up_time{1'000};
    const auto interval = tick_of(work);
    const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(wake_up_time / interval, 10, 1'000));
    Measured measured;
    const auto measure_machine = [&] {
        measured.eventfd.add(measure_wake_ups(Bell::eventfd, interval, count));
        measured.tcp.add(measure_wake_ups(Bell::tcp, interval, count));
    };
    measure_machine();
    measured.line = run_line(work);
    measure_machine();
    return measured;
}

/// The highest rate that one short trial sustains.
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
        throw std::runtime_error("--seconds: a run may have " + std::to_string(ticks_max) +
                                 " ticks, this one would have " + std::to_string(ticks));
    }
    return work;
}

[[noreturn]] void tell_loss(const LineResult& result) {
    throw std::runtime_error("samples were lost: " + std::to_string(result.lost_at_queue) + " of " +
                             std::to_string(result.offered) + " at the queue, " +
                             std::to_string(result.lost_at_backlogs) + " messages at the subscribers' backlogs");
}

/// As many runs as asked for, all without a loss.
std::vector<Measured> measure_all(const LineWork& work, std::size_t runs) {
    std::vector<Measured> all;
    while (all.size() < runs) {
        std::cerr << "run " << all.size() + 1 << " of " << runs << '\n';
        all.push_back(measure(work));
        if (!all.back().line.lossless()) {
            tell_loss(all.back().line);
        }
    }
    return all;
}

/// Whole runs at the rate found, which goes down by a tenth until all of them sustain it.
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

Report run(const PipelineOptions& options, const CommonOptions& common) {
    LineWork work;
    std::vector<Measured> all;
    if (options.rate == highest) {
        all = measure_highest(options, common.runs, work);
    } else {
        work = work_at(options, number_of(options.rate));
        all = measure_all(work, common.runs);
    }
    Report report{"pipeline", "one tcp subscriber or more, all of it", {}, {}, {}};
    report.ratios_heading = "of the machine, run by run";
    report.parameters = {
        {"rate", std::to_string(work.rate) + " samples/s" + (options.rate == highest ? ", the highest sustained" : "")},
        {"samples", std::to_string(work.samples) + " in each run"},
        {"tick", std::to_string(tick_of(work).count() / 1'000) + " us"},
        {"channels", std::to_string(work.channels)},
        {"subscribers", std::to_string(work.subscribers) + ", each with a thread, over tcp"},
        {"format", work.format},
        {"queue", std::to_string(work.queue_size) + " samples, " + work.policy},
        {"runs", std::to_string(common.runs)},
        {"delay", "from the capture to the subscriber's hands, of every sample"}};
    add_rows(report, work, options.rate == highest, all);
    return report;
}

std::string check_rate(const std::string& text) {
    const std::uint64_t number = number_of(text);
    const bool good = text == highest || (number >= 1 && number <= rate_most);
    return good ? "" : "\"" + text + "\" is not a rate: 1 to " + std::to_string(rate_most) + ", or max";
}

}  // namespace

Command::Action describe_pipeline_command(CLI::App& options) {
    const auto chosen = std::make_shared<PipelineOptions>();
    options
        .add_option("--rate", chosen->rate, "Samples per second, or max: the highest that is sustained without a loss")
        ->check(check_rate)
        ->capture_default_str();
    options.add_option("--channels", chosen->work.channels, "Of the device, taken in turn")
        ->check(CLI::Range(std::size_t{1}, channels_max))
        ->capture_default_str();
    options.add_option("--subscribers", chosen->work.subscribers, "Each receives all")
        ->check(CLI::Range(std::size_t{1}, std::size_t{64}))
        ->capture_default_str();
    options.add_option("--format", chosen->work.format, "Of the payload")
        ->check(CLI::IsMember(payload_format_names.names))
        ->capture_default_str();
    auto* const seconds = options.add_option("--seconds", chosen->seconds, "Time of each run")
                              ->check(CLI::Range(0.01, 3'600.0))
                              ->capture_default_str();
    options.add_option("--samples", chosen->samples, "Offered in each run, instead")
        ->check(CLI::Range(std::uint64_t{1}, samples_most))
        ->excludes(seconds);
    options.add_option("--tick", chosen->tick_us, "Microseconds between two readings of the device, at least")
        ->check(CLI::Range(10, 1'000'000))
        ->capture_default_str();
    options.add_option("--queue", chosen->work.queue_size, "Samples that it holds at most")
        ->check(CLI::Range(std::size_t{1}, BoundedQueue<TelemetrySample>::capacity_max))
        ->capture_default_str();
    options.add_option("--policy", chosen->work.policy, "What a full queue does")
        ->check(CLI::IsMember({"drop_oldest", "drop_newest", "block"}))
        ->capture_default_str();
    return [chosen](const CommonOptions& common) {
        chosen->work.tick_min = std::chrono::microseconds(chosen->tick_us);
        return run(*chosen, common);
    };
}

}  // namespace telegate::perf
