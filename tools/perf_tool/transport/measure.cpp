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

/// An engine in a cell.
struct Entry {
    const Engine& engine;
    std::uint64_t messages;
    Series series;
};

void add_run(Entry& entry, const Cell& cell) {
    Workload work = cell.work;
    work.messages = entry.messages;
    const Outcome outcome = entry.engine.run(work);
    const std::size_t copies = work.topics == 1 ? work.receivers : 1;
    const auto counted = static_cast<double>(entry.messages * copies);
    entry.series.rates.push_back(counted / outcome.seconds);
    entry.series.cpu_ns.push_back(outcome.cpu_seconds * 1e9 / counted);
    entry.series.publisher_cpu_ns.push_back(outcome.publisher_cpu_seconds * 1e9 / counted);
}

[[nodiscard]] Entry make_entry(const Cell& cell, const Engine& engine, double seconds) {
    const Amount amount =
        cell.work.messages != 0 ? Amount{cell.work.messages} : messages_in(seconds, engine, cell.work);
    Entry entry{engine, amount.messages, {std::string(engine.name), engine.variant}};
    entry.series.is_cut = amount.is_cut;
    return entry;
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

template <class NoteRun>
void measure_cell(Cell& cell, const MeasurePlan& plan, const NoteRun& note_run) {
    std::vector<Entry> entries;
    for (const Engine& engine : plan.engines) {
        if (engine.can(cell.work)) {
            note_run(0, engine);
            entries.push_back(name_faults(engine, cell, [&] { return make_entry(cell, engine, plan.seconds); }));
        }
    }
    for (std::size_t run = 0; run < plan.runs; ++run) {
        for (Entry& entry : entries) {
            note_run(run, entry.engine);
            name_faults(entry.engine, cell, [&] { add_run(entry, cell); });
        }
    }
    for (Entry& entry : entries) {
        cell.series.push_back(std::move(entry.series));
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

void measure_cells(std::vector<Cell>& cells, const MeasurePlan& plan, const Progress& progress) {
    for (std::size_t index = 0; index < cells.size(); ++index) {
        measure_cell(cells[index], plan, [&](std::size_t run, const Engine& engine) { progress(index, run, engine); });
    }
}

}  // namespace telegate::perf
