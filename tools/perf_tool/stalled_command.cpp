#include "command.hpp"
#include "config/payload_format.hpp"
#include "pipeline/line_run.hpp"
#include "pipeline/load.hpp"

#include <memory>

namespace telegate::perf {

namespace {

struct StalledOptions {
    StalledOptions() { work.subscribers = 2; }

    double seconds = 60;
    std::size_t stalled = 1;
    LineWork work;  // without samples and stalled subscribers
};

void add_run(Report& report, const std::string& name, const LineWork& work) {
    const LineResult line = run_line(work);
    require_lossless(line);
    report.add(name + "delay p50, us", line.delays.quantile_us(0.5));
    report.add(name + "delay p99, us", line.delays.quantile_us(0.99));
    report.add(name + "delay max, us", line.delays.maximum_us());
    report.add(name + "CPU of tg-io, ns/sample",
               static_cast<double>(line.io.cpu_ns) / static_cast<double>(line.offered));
    report.add(name + "memory more, MiB", line.memory_more_mib);
    report.add(name + "lost to the stalled, messages", static_cast<double>(line.lost_to_stalled));
}

Report run(const StalledOptions& options, std::size_t runs) {
    LineWork work = options.work;
    work.samples = static_cast<std::uint64_t>(options.seconds * static_cast<double>(work.rate));
    Report report{"stalled", "subscribers that read, alone and next to others that never read"};
    report.ratios_heading = "ratio: with stalled subscribers / alone, run by run";
    report.parameters = {{"rate", std::to_string(work.rate) + " samples/s"},
                         {"time", text_of(options.seconds) + " s per run"},
                         {"channels", std::to_string(work.channels)},
                         {"subscribers", std::to_string(work.subscribers) + " that read, over tcp"},
                         {"stalled", std::to_string(options.stalled) + " that never read"},
                         {"policy", work.slow_policy},
                         {"format", work.format},
                         {"runs", std::to_string(runs) + ", alone and with stalled in turn"},
                         {"delay", "from the capture until a subscriber that reads has the batch"},
                         {"memory more", "of this process, including subscribers, at the last sample"}};
    for (std::size_t round = 0; round < runs; ++round) {
        show_run(round, runs, "alone");
        work.stalled = 0;
        add_run(report, "alone: ", work);
        show_run(round, runs, "with stalled");
        work.stalled = options.stalled;
        add_run(report, "with stalled: ", work);
    }
    report.add_ratio("delay p99, us", "with stalled: delay p99, us", "alone: delay p99, us", Goal::at_most(1.2));
    return report;
}

}  // namespace

Command::Action describe_stalled_command(CLI::App& options) {
    const auto chosen = std::make_shared<StalledOptions>();
    LineWork& work = chosen->work;
    options.add_option("--rate", work.rate, "Samples per second")->check(CLI::Range(1'000, 10'000'000));
    options.add_option("--seconds", chosen->seconds, "Seconds per run")->check(CLI::Range(0.1, 600.0));
    options.add_option("--channels", work.channels, "Channels of the device, in turn")
        ->check(CLI::Range(std::size_t{1}, channels_max));
    options.add_option("--subscribers", work.subscribers, "Subscribers that read all")->check(CLI::Range(1, 64));
    options.add_option("--stalled", chosen->stalled, "Subscribers that never read")->check(CLI::Range(1, 512));
    options.add_option("--policy", work.slow_policy, "Policy of the endpoint for slow subscribers")
        ->check(CLI::IsMember({"drop_oldest", "drop_newest", "conflate"}));
    options.add_option("--format", work.format, "Payload format")->check(CLI::IsMember(payload_format_names.names));
    return [chosen](std::size_t runs) {
        return run(*chosen, runs);
    };
}

}  // namespace telegate::perf
