#include "command.hpp"
#include "sampler/tick_engines.hpp"
#include "sampler/tick_load.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

constexpr std::uint32_t rate_max = 100'000;          // the shortest interval that a device may have
constexpr std::uint64_t run_ticks_max = 10'000'000;  // of one engine in one run: 80 MB of times
constexpr double one_second_ns = 1e9;

struct SamplerOptions {
    std::vector<std::uint32_t> rates{10, 1'000, 10'000};
    std::vector<std::string> loads{"none", "hog", "rest"};
    double seconds = 5;  // of each engine in each run
    ThreadSchedule schedule;
};

struct LatenessFigure {
    const char* name;
    double share;
};
constexpr std::array<LatenessFigure, 4> lateness_figures{{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}}};
constexpr std::array<std::size_t, 2> compared_figures{0, 1};  // of the figures: those with ratios

/// One rate under one load: a row for each engine's figures and missed ticks, and the ratios.
struct SamplerCell {
    std::uint32_t rate;
    std::string load;
    std::array<std::array<Row, lateness_figures.size()>, tick_engines.size()> lateness;
    std::array<Row, tick_engines.size()> missed;

    [[nodiscard]] std::string name() const {
        return std::to_string(rate) + " Hz, " + (load == "none" ? "alone" : load) + ": ";
    }
};

[[nodiscard]] SamplerCell make_cell(std::uint32_t rate, const std::string& load) {
    SamplerCell cell{rate, load, {}, {}};
    for (std::size_t engine = 0; engine < tick_engines.size(); ++engine) {
        const std::string name = cell.name() + tick_engines[engine].name + ", ";
        for (std::size_t figure = 0; figure < lateness_figures.size(); ++figure) {
            cell.lateness[engine][figure].name = name + lateness_figures[figure].name;
        }
        cell.missed[engine].name = name + "missed";
    }
    return cell;
}

[[nodiscard]] TickWork work_of(const SamplerOptions& options, std::uint32_t rate) {
    const double ticks = std::ceil(options.seconds * rate);
    return {Duration(std::llround(one_second_ns / rate)), static_cast<std::uint64_t>(ticks), options.schedule};
}

void add_run(SamplerCell& cell, std::size_t engine, const TickRecord& record) {
    for (std::size_t figure = 0; figure < lateness_figures.size(); ++figure) {
        cell.lateness[engine][figure].values.push_back(record.lateness_at(lateness_figures[figure].share));
    }
    cell.missed[engine].values.push_back(static_cast<double>(record.missed()));
}

/// The sampler over the bare loop that does better in that run.
[[nodiscard]] Row ratio_in(const SamplerCell& cell, std::size_t figure) {
    Row best = cell.lateness[1][figure];
    const Row& other = cell.lateness[2][figure];
    for (std::size_t run = 0; run < best.values.size(); ++run) {
        best.values[run] = std::min(best.values[run], other.values[run]);
    }
    Row row = ratio(cell.name() + lateness_figures[figure].name, cell.lateness[0][figure], best);
    if (cell.rate == 1'000 && cell.load == "none" && lateness_figures[figure].name == std::string_view("p99")) {
        row.goal = Goal::at_most(1.2);
    }
    return row;
}

[[nodiscard]] std::string words_of(const ThreadSchedule& schedule) {
    std::string words = schedule.realtime_priority > 0
                            ? "real-time priority " + std::to_string(schedule.realtime_priority)
                            : "an ordinary thread";
    for (const unsigned processor : schedule.processors) {
        words += (processor == schedule.processors.front() ? ", on processors " : " ") + std::to_string(processor);
    }
    return words;
}

[[nodiscard]] Report describe(const SamplerOptions& options, std::size_t runs) {
    std::ostringstream time;
    time << options.seconds << " s for each engine in each run";
    Report report{"sampler", "ns late, or ticks missed", {}, {}, {}};
    report.ratios_heading = "sampler over bare, run by run";
    report.parameters = {
        {"runs", std::to_string(runs) + ", all engines in turn"},
        {"time", time.str()},
        {"lateness", "from the deadline to the look at the clock that begins the reading; every tick is in it"},
        {"missed", "ticks that passed before the one before them was read"},
        {"sampler", "sampling thread, a device of one channel, queue, and a thread that takes the samples out"},
        {"bare", "clock_nanosleep(TIMER_ABSTIME) and a look at the clock; timer slack 1 ns, or the default of 50 us"},
        {"ratios", "to the better of the two"},
        {"thread", words_of(options.schedule)}};
    return report;
}

/// One run of all engines under the load of the cell. Answers of the REST server.
std::uint64_t run_all(SamplerCell& cell, const TickWork& work) {
    TickLoad load(cell.load);
    for (std::size_t engine = 0; engine < tick_engines.size(); ++engine) {
        add_run(cell, engine, tick_engines[engine].run(work));
    }
    return load.stop();
}

Report measure(const SamplerOptions& options, const CommonOptions& common) {
    Report report = describe(options, common.runs);
    std::vector<SamplerCell> cells;
    for (const std::string& load : options.loads) {
        for (const std::uint32_t rate : options.rates) {
            cells.push_back(make_cell(rate, load));
        }
    }
    std::uint64_t answers = 0;
    double rest_seconds = 0;
    for (std::size_t run = 0; run < common.runs; ++run) {
        for (SamplerCell& cell : cells) {
            std::cerr << "run " << run + 1 << " of " << common.runs << ", " << cell.rate << " Hz, load " << cell.load
                      << '\n';
            const auto begin = std::chrono::steady_clock::now();
            answers += run_all(cell, work_of(options, cell.rate));
            const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
            rest_seconds += cell.load == "rest" ? time.count() : 0;
        }
    }
    for (const SamplerCell& cell : cells) {
        for (std::size_t engine = 0; engine < tick_engines.size(); ++engine) {
            report.rows.insert(report.rows.end(), cell.lateness[engine].begin(), cell.lateness[engine].end());
            report.rows.push_back(cell.missed[engine]);
        }
        for (const std::size_t figure : compared_figures) {
            report.ratios.push_back(ratio_in(cell, figure));
        }
    }
    if (answers > 0) {
        report.parameters.emplace_back("rest",
                                       "GET /status by 4 clients of this process, " +
                                           std::to_string(std::llround(static_cast<double>(answers) / rest_seconds)) +
                                           " answers a second");
    }
    return report;
}

void check(const SamplerOptions& options) {
    for (const std::uint32_t rate : options.rates) {
        if (options.seconds * rate > static_cast<double>(run_ticks_max)) {
            throw CLI::ValidationError("--seconds", "more than " + std::to_string(run_ticks_max) + " ticks in a run");
        }
    }
}

}  // namespace

Command::Action describe_sampler_command(CLI::App& options) {
    const auto chosen = std::make_shared<SamplerOptions>();
    options.add_option("--rate", chosen->rates, "Ticks a second, with commas between")
        ->delimiter(',')
        ->check(CLI::Range(std::uint32_t{1}, rate_max))
        ->capture_default_str();
    options
        .add_option("--load", chosen->loads,
                    "Beside it, with commas between: nothing, busy threads, a busy REST server")
        ->delimiter(',')
        ->check(CLI::IsMember({"none", "hog", "rest"}))
        ->capture_default_str();
    options.add_option("--seconds", chosen->seconds, "Time of each engine in each run")
        ->check(CLI::Range(0.05, 3'600.0))
        ->capture_default_str();
    options.add_option("--realtime-priority", chosen->schedule.realtime_priority, "Of the thread that is measured")
        ->check(CLI::Range(0, ThreadSchedule::realtime_priority_max))
        ->capture_default_str();
    options.add_option("--cpu-affinity", chosen->schedule.processors, "Processors that it may run on")
        ->delimiter(',')
        ->check(CLI::Range(0U, processor_count() - 1));
    options.callback([chosen] { check(*chosen); });
    return [chosen](const CommonOptions& common) {
        return measure(*chosen, common);
    };
}

}  // namespace telegate::perf
