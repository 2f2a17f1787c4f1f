#include "command.hpp"
#include "config/payload_format.hpp"
#include "pipeline/line_run.hpp"
#include "pipeline/load_driver.hpp"

#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::perf {

namespace {

struct StalledOptions {
    double seconds = 60;
    std::size_t stalled = 1;
    LineWork work;  // without its samples and its stalled subscribers

    StalledOptions() { work.subscribers = 2; }
};

constexpr std::string_view p99_name = "delay p99, us";
constexpr std::array<LineFigure, 6> stalled_figures{{
    {"delay p50, us",
     [](const LineResult& line) {
         return line.delays.quantile_us(0.5);
     }},
    {p99_name,
     [](const LineResult& line) {
         return line.delays.quantile_us(0.99);
     }},
    {"delay max, us",
     [](const LineResult& line) {
         return line.delays.maximum_us();
     }},
    {"CPU of tg-io, ns/sample",
     [](const LineResult& line) {
         return static_cast<double>(line.io.cpu_ns) / static_cast<double>(line.offered);
     }},
    {"memory more, MiB",
     [](const LineResult& line) {
         return line.memory_more_mib;
     }},
    {"lost to the stalled, messages",
     [](const LineResult& line) {
         return static_cast<double>(line.lost_to_stalled);
     }},
}};

/// Alone first, then beside the stalled.
constexpr std::array<std::string_view, 2> cases{"alone: ", "beside: "};
using StalledRows = std::array<std::array<Row, stalled_figures.size()>, cases.size()>;

LineResult lossless_run(const LineWork& work) {
    LineResult result = run_line(work);
    if (!result.lossless()) {
        throw std::runtime_error("subscribers that read have lost samples: " + std::to_string(result.lost_at_queue) +
                                 " at the queue, " + std::to_string(result.lost_at_backlogs) +
                                 " messages at their backlogs");
    }
    return result;
}

Report describe(const StalledOptions& options, const CommonOptions& common) {
    std::ostringstream time;
    time << options.seconds << " s in each run";
    const LineWork& work = options.work;
    Report report{"stalled", "subscribers that read, alone and beside others that never do", {}, {}, {}};
    report.ratios_heading = "beside over alone, run by run";
    report.parameters = {{"rate", std::to_string(work.rate) + " samples/s"},
                         {"time", time.str()},
                         {"channels", std::to_string(work.channels)},
                         {"subscribers", std::to_string(work.subscribers) + " that read, over tcp"},
                         {"stalled", std::to_string(options.stalled) + " that never read"},
                         {"policy", work.slow_policy},
                         {"format", work.format},
                         {"runs", std::to_string(common.runs) + ", alone and beside in turn"},
                         {"delay", "from the capture to the hands of a subscriber that reads"},
                         {"memory more", "of this process, subscribers included, at the last sample"}};
    return report;
}

Report run(const StalledOptions& options, const CommonOptions& common) {
    StalledRows rows;
    for (std::size_t one = 0; one < cases.size(); ++one) {
        for (std::size_t figure = 0; figure < stalled_figures.size(); ++figure) {
            rows[one][figure].name = std::string(cases[one]).append(stalled_figures[figure].name);
        }
    }
    LineWork work = options.work;
    work.samples = static_cast<std::uint64_t>(options.seconds * static_cast<double>(work.rate));
    for (std::size_t round = 0; round < common.runs; ++round) {
        for (std::size_t one = 0; one < cases.size(); ++one) {
            std::cerr << "run " << round + 1 << " of " << common.runs << ", "
                      << cases[one].substr(0, cases[one].find(':')) << '\n';
            work.stalled = one == 0 ? 0 : options.stalled;
            const LineResult result = lossless_run(work);
            for (std::size_t figure = 0; figure < stalled_figures.size(); ++figure) {
                rows[one][figure].values.push_back(stalled_figures[figure].of(result));
            }
        }
    }
    Report report = describe(options, common);
    for (std::size_t figure = 0; figure < stalled_figures.size(); ++figure) {
        if (stalled_figures[figure].name == p99_name) {
            report.ratios.push_back(ratio(std::string(p99_name), rows[1][figure], rows[0][figure]));
            report.ratios.back().goal = Goal::at_most(1.2);
        }
    }
    for (auto& one : rows) {
        for (Row& row : one) {
            report.rows.push_back(std::move(row));
        }
    }
    return report;
}

}  // namespace

Command::Action describe_stalled_command(CLI::App& options) {
    constexpr double seconds_max = 600;
    const auto chosen = std::make_shared<StalledOptions>();
    options.add_option("--rate", chosen->work.rate, "Samples per second")
        ->check(CLI::Range(std::uint64_t{1'000}, std::uint64_t{10'000'000}))
        ->capture_default_str();
    options.add_option("--seconds", chosen->seconds, "Time of each run")
        ->check(CLI::Range(0.1, seconds_max))
        ->capture_default_str();
    options.add_option("--channels", chosen->work.channels, "Of the device, taken in turn")
        ->check(CLI::Range(std::size_t{1}, channels_max))
        ->capture_default_str();
    options.add_option("--subscribers", chosen->work.subscribers, "That read all")
        ->check(CLI::Range(std::size_t{1}, std::size_t{64}))
        ->capture_default_str();
    options.add_option("--stalled", chosen->stalled, "That never read")
        ->check(CLI::Range(std::size_t{1}, std::size_t{512}))
        ->capture_default_str();
    options.add_option("--policy", chosen->work.slow_policy, "Of the endpoint, for the stalled")
        ->check(CLI::IsMember({"drop_oldest", "drop_newest", "conflate"}))
        ->capture_default_str();
    options.add_option("--format", chosen->work.format, "Of the payload")
        ->check(CLI::IsMember(payload_format_names.names))
        ->capture_default_str();
    return [chosen](const CommonOptions& common) {
        return run(*chosen, common);
    };
}

}  // namespace telegate::perf
