#include "line_rows.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::perf {

namespace {

constexpr std::string_view received_name = "received by all, samples/s";
constexpr std::string_view lost_name = "lost, samples";
constexpr std::string_view wake_ups_name = "wake-ups of tg-io, /sample";

double count(std::uint64_t number) {
    return static_cast<double>(number);
}

double per_second(std::uint64_t number, double seconds) {
    constexpr double shortest = 1e-3;  // a single tick takes no time
    return count(number) / std::max(seconds, shortest);
}

double each(const LineResult& line, std::uint64_t number) {
    return count(number) / std::max(1.0, count(line.offered));
}

constexpr std::array<LineFigure, 17> line_figures{{
    {"offered, samples/s",
     [](const LineResult& line) {
         return per_second(line.offered, line.offering_seconds);
     }},
    {received_name,
     [](const LineResult& line) {
         return per_second(line.received, line.seconds);
     }},
    {lost_name,
     [](const LineResult& line) {
         return count(line.lost_at_queue + line.lost_at_backlogs);
     }},
    {"delay p50, us",
     [](const LineResult& line) {
         return line.delays.quantile_us(0.5);
     }},
    {"delay p99, us",
     [](const LineResult& line) {
         return line.delays.quantile_us(0.99);
     }},
    {"delay p99.9, us",
     [](const LineResult& line) {
         return line.delays.quantile_us(0.999);
     }},
    {"delay max, us",
     [](const LineResult& line) {
         return line.delays.maximum_us();
     }},
    {"CPU of tg-sample, ns/sample",
     [](const LineResult& line) {
         return each(line, line.sampling.cpu_ns);
     }},
    {"CPU of tg-io, ns/sample",
     [](const LineResult& line) {
         return each(line, line.io.cpu_ns);
     }},
    {"CPU of the subscribers, ns/sample",
     [](const LineResult& line) {
         return each(line, line.receiving.cpu_ns);
     }},
    {"wake-ups of tg-sample, /s",
     [](const LineResult& line) {
         return per_second(line.sampling.wake_ups, line.seconds);
     }},
    {"wake-ups of tg-io, /s",
     [](const LineResult& line) {
         return per_second(line.io.wake_ups, line.seconds);
     }},
    {wake_ups_name,
     [](const LineResult& line) {
         return each(line, line.io.wake_ups);
     }},
    {"wake-ups of the subscribers, /s",
     [](const LineResult& line) {
         return per_second(line.receiving.wake_ups, line.seconds);
     }},
    {"cut off, tg-sample and tg-io, /s",
     [](const LineResult& line) {
         return per_second(line.sampling.cut_offs + line.io.cut_offs, line.seconds);
     }},
    {"samples in one message",
     [](const LineResult& line) {
         return count(line.received) / std::max(1.0, count(line.messages));
     }},
    {"queue at its fullest, samples",
     [](const LineResult& line) {
         return count(line.queue_high_water);
     }},
}};

Goal goal_of(const LineWork& work, bool rate_was_sought, std::string_view figure) {
    if (rate_was_sought && figure == received_name && work.subscribers == 1 && work.format != "cbor") {
        return Goal::at_least(work.format == "json" ? 4e6 : 12e6);
    }
    if (work.rate == 10 && figure == wake_ups_name) {
        return Goal::at_most(1.2);  // one, and the one a second in which the publisher looks at its peers' deadlines
    }
    return figure == lost_name ? Goal::at_most(0) : Goal{};
}

struct Machine {
    std::string_view name;
    DelayCounts Measured::*wake_ups;
};

constexpr std::string_view eventfd_name = "eventfd";
constexpr std::string_view tcp_name = "tcp";
constexpr std::array<Machine, 2> machines{{{eventfd_name, &Measured::eventfd}, {tcp_name, &Measured::tcp}}};

/// What the machine itself does, and how the line compares with that. The goal is about the way in which a subscriber
/// is woken.
void add_machine(Report& report, const Machine& machine, const LineWork& work, const std::vector<Measured>& all) {
    const std::string name(machine.name);
    Row middle{"wake-up by " + name + " p50, us", {}};
    Row late{"wake-up by " + name + " p99, us", {}};
    Row ratio{"delay p99 over wake-up by " + name, {}};
    if (work.rate == 100'000 && work.subscribers == 4 && machine.name == tcp_name) {
        ratio.goal = Goal::at_most(5);
    }
    for (const Measured& one : all) {
        middle.values.push_back((one.*machine.wake_ups).quantile_us(0.5));
        late.values.push_back((one.*machine.wake_ups).quantile_us(0.99));
        ratio.values.push_back(one.line.delays.quantile_us(0.99) / late.values.back());
    }
    report.rows.insert(report.rows.end(), {std::move(middle), std::move(late)});
    report.ratios.push_back(std::move(ratio));
}

}  // namespace

void add_rows(Report& report, const LineWork& work, bool rate_was_sought, const std::vector<Measured>& all) {
    for (const LineFigure& figure : line_figures) {
        Row row{std::string(figure.name), {}, goal_of(work, rate_was_sought, figure.name)};
        for (const Measured& one : all) {
            row.values.push_back(figure.of(one.line));
        }
        report.rows.push_back(std::move(row));
    }
    for (const Machine& machine : machines) {
        add_machine(report, machine, work, all);
    }
}

}  // namespace telegate::perf
