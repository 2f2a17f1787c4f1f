#include "results.hpp"

#include <exception>
#include <stdexcept>

namespace telegate::perf {

namespace {

/// A pilot run is long enough if it takes this share of the requested time.
constexpr double pilot_share = 0.125;
constexpr std::uint64_t pilot_bytes = 4 * 1024 * 1024;
constexpr std::uint64_t pilot_messages_min = 100;
constexpr std::uint64_t pilot_messages_max = 20'000;
constexpr std::uint64_t pilot_growth_max = 16;

void add_run(Series& series, const Outcome& outcome, const Workload& work) {
    const std::size_t copies = work.topics == 1 ? work.receivers : 1;
    const auto counted = static_cast<double>(work.messages * copies);
    series.rates.push_back(counted / outcome.seconds);
    series.cpu_ns.push_back(outcome.cpu_seconds * 1e9 / counted);
    series.publisher_cpu_ns.push_back(outcome.publisher_cpu_seconds * 1e9 / counted);
}

/// Adds the names of the engine and the cell to exceptions.
template <class Function>
auto name_faults(const Engine& engine, const Cell& cell, const Function& function) {
    try {
        return function();
    } catch (const std::exception& error) {
        throw std::runtime_error(std::string(engine.name) +
                                 (engine.variant.empty() ? "" : " (" + engine.variant + ")") + ", " + cell.group +
                                 ", " + cell.name + ": " + error.what());
    }
}

}  // namespace

Amount messages_in(double seconds, const Engine& engine, Workload work) {
    work.messages = std::clamp(pilot_bytes / work.size / work.receivers, pilot_messages_min, pilot_messages_max);
    for (;;) {
        const Outcome outcome = engine.run(work);
        const double wanted = static_cast<double>(work.messages) * seconds / outcome.seconds;
        const bool is_enough = outcome.seconds >= seconds * pilot_share;
        const double next =
            is_enough ? wanted : std::min(wanted / 2, static_cast<double>(work.messages * pilot_growth_max));
        Workload larger = work;
        larger.messages = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(next));
        const std::uint64_t asked = larger.messages;
        while (larger.messages > work.messages && !engine.can(larger)) {
            larger.messages = std::max(work.messages, larger.messages / 2);
        }
        const bool is_cut = larger.messages < asked;
        if (is_enough || is_cut) {
            return {larger.messages, is_cut};
        }
        work = larger;
    }
}

void measure_cell(Cell& cell, const MeasurePlan& plan, Steps& steps) {
    struct Measured {
        const Engine& engine;
        Workload work;
    };
    std::vector<Measured> all;  // one per series
    const std::string name = cell.group + ", " + cell.name;
    steps.next(name + ", number of messages");
    for (const Engine& engine : plan.engines) {
        if (!engine.can(cell.work)) {
            continue;
        }
        steps.check();
        Amount amount{cell.work.messages};
        if (amount.messages == 0) {
            amount = name_faults(engine, cell, [&] { return messages_in(plan.seconds, engine, cell.work); });
        }
        all.push_back({engine, cell.work});
        all.back().work.messages = amount.messages;
        cell.series.push_back({std::string(engine.name), engine.variant});
        cell.series.back().is_cut = amount.is_cut;
    }
    for (std::size_t run = 0; run < steps.runs(); ++run) {
        steps.next(name + ", run " + std::to_string(run + 1));
        for (std::size_t index = 0; index < all.size(); ++index) {
            const Measured& each = all[index];
            steps.check();
            add_run(cell.series[index], name_faults(each.engine, cell, [&] { return each.engine.run(each.work); }),
                    each.work);
        }
    }
}

}  // namespace telegate::perf
