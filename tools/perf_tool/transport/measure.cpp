#include "measure.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace telegate::perf {

namespace {

/// Enough of a run to tell the rate from, of what is asked for.
constexpr double pilot_share = 0.125;
constexpr std::uint64_t pilot_bytes = 4 * 1024 * 1024;
constexpr std::uint64_t pilot_messages_min = 100;
constexpr std::uint64_t pilot_messages_max = 20'000;
constexpr std::uint64_t pilot_growth_max = 16;

/// One that is measured in a cell, and with how many messages.
struct Entry {
    const Engine& engine;
    std::uint64_t messages;
    Series series;
};

[[nodiscard]] Outcome run_in(const Cell& cell, const Engine& engine, std::uint64_t messages) {
    Workload work = cell.work;
    work.messages = messages;
    try {
        return engine.run(work);
    } catch (const std::exception& error) {
        throw std::runtime_error(name_of(engine) + ", " + cell.group + ", " + cell.name + ": " + error.what());
    }
}

void add_run(Entry& entry, const Cell& cell) {
    Outcome outcome = run_in(cell, entry.engine, entry.messages);
    const std::size_t copies = cell.work.topics == 1 ? cell.work.receivers : 1;
    const auto counted = static_cast<double>(entry.messages * copies);
    entry.series.rates.push_back(counted / outcome.seconds);
    entry.series.cpu_ns.push_back(outcome.cpu_seconds * 1e9 / counted);
    entry.series.sender_cpu_ns.push_back(outcome.sender_cpu_seconds * 1e9 / counted);
    entry.series.publisher_cpu_ns.push_back(outcome.publisher_cpu_seconds * 1e9 / counted);
    if (!outcome.setup.empty()) {
        entry.series.variant = std::move(outcome.setup);
    }
}

template <class OnTrial>
[[nodiscard]] std::vector<Entry> entries_of(const Cell& cell, const MeasurePlan& plan, const OnTrial& on_trial) {
    std::vector<Entry> entries;
    for (const Engine& engine : plan.engines) {
        if (!engine.can(cell.work)) {
            continue;
        }
        Amount amount{cell.work.messages};
        if (amount.messages == 0) {
            on_trial(engine);
            try {
                amount = messages_in(plan.seconds, engine, cell.work);
            } catch (const std::exception& error) {
                throw std::runtime_error(name_of(engine) + ", " + cell.group + ", " + cell.name + ": " + error.what());
            }
        }
        Series series{std::string(engine.name), engine.variant, {}, {}, {}, {}};
        series.is_cut = amount.is_cut;
        entries.push_back({engine, amount.messages, std::move(series)});
    }
    return entries;
}

}  // namespace

std::string name_of(const Engine& engine) {
    return std::string(engine.name) + (engine.variant.empty() ? "" : " (" + engine.variant + ")");
}

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

void measure_cells(std::vector<Cell>& cells, const MeasurePlan& plan, const Progress& progress) {
    for (std::size_t index = 0; index < cells.size(); ++index) {
        Cell& cell = cells[index];
        std::vector<Entry> entries = entries_of(cell, plan, [&](const Engine& engine) { progress(index, 0, engine); });
        for (std::size_t run = 0; run < plan.runs; ++run) {
            for (Entry& entry : entries) {
                progress(index, run, entry.engine);
                add_run(entry, cell);
            }
        }
        for (Entry& entry : entries) {
            cell.series.push_back(std::move(entry.series));
        }
    }
}

}  // namespace telegate::perf
