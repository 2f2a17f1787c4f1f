#include "transport_command.hpp"

#include "transport/raw_link.hpp"
#include "transport/telegate_link.hpp"
#ifdef TELEGATE_LIBZMQ
#include "transport/libzmq_link.hpp"
#endif

#include <iterator>
#include <stdexcept>

/// The commands transport and fanout.
namespace telegate::perf {

namespace {

constexpr std::uint64_t messages_max = 10'000'000'000;
constexpr std::uint64_t unlimited_bytes_max = 1024 * 1024 * 1024;  // without HWM, all messages must fit into memory
constexpr std::string_view original = "original";

SocketEngine telegate_engine(std::size_t io_threads, const std::string& name) {
    return {name, [](const Workload&) { return messages_max; },
            [io_threads](const Workload& work) {
                return run_telegate(work, io_threads);
            }};
}

#ifdef TELEGATE_LIBZMQ
std::uint64_t messages_of_libzmq(const Workload& work, const libzmq::Setup& setup) {
    const bool needs_sockets = setup.two_contexts || setup.buffer_bytes > 0 || setup.io_threads > 1;
    // Two processes have two contexts in any case.
    const bool differs =
        !(needs_sockets && work.transport == Transport::inproc) && !(setup.two_contexts && work.two_processes);
    if (!differs || (work.curve && zmq_has("curve") != 1)) {
        return 0;
    }
    return setup.unlimited ? unlimited_bytes_max / work.size / work.receivers : messages_max;
}
#endif

std::string about_libzmq() {
#ifdef TELEGATE_LIBZMQ
    return libzmq::version();
#else
    return "not measured: not found when perf_tool was built";
#endif
}

void add_libzmq(std::vector<SocketEngine>& engines, bool all, std::size_t io_threads) {
#ifdef TELEGATE_LIBZMQ
    const auto add = [&](const std::string& name, const libzmq::Setup& setup) {
        engines.push_back({"libzmq" + name, [setup](const Workload& work) { return messages_of_libzmq(work, setup); },
                           [setup](const Workload& work) {
                               return libzmq::run(work, setup);
                           }});
    };
    constexpr int one_mib = 1024 * 1024;
    add("", {});  // as in ServerLink's reports, see README.md
    if (!all) {
        return;
    }
    for (const bool two : {false, true}) {
        const std::string contexts = two ? ", two contexts" : "";
        if (two) {
            add(contexts, {.two_contexts = two});
        }
        add(contexts + ", HWM 0", {.two_contexts = two, .unlimited = true});
        add(contexts + ", message API", {.two_contexts = two, .message_api = true});
        add(contexts + ", message API, HWM 0", {.two_contexts = two, .message_api = true, .unlimited = true});
        add(contexts + ", message API, 1 MiB buffers",
            {.two_contexts = two, .message_api = true, .buffer_bytes = one_mib});
        if (io_threads > 1) {
            const int threads = static_cast<int>(io_threads);
            add(contexts + ", " + std::to_string(threads) + " I/O threads",
                {.two_contexts = two, .io_threads = threads});
        }
    }
#else
    (void)engines, (void)all, (void)io_threads;
#endif
}

/// Returns the number of messages that takes an engine about `seconds`, at most as many as it can send.
std::uint64_t messages_in(double seconds, const SocketEngine& engine, Workload work) {
    constexpr std::uint64_t pilot_bytes = 4 * 1024 * 1024;
    constexpr double pilot_share = 0.125;  // a pilot run is long enough if it takes this share of the time
    const std::uint64_t most = engine.messages_max(work);
    work.messages =
        std::min<std::uint64_t>(std::clamp<std::uint64_t>(pilot_bytes / work.size / work.receivers, 100, 20'000), most);
    for (;;) {
        const double taken = engine.run(work).seconds;
        const bool is_enough = taken >= seconds * pilot_share;
        const double wanted = static_cast<double>(work.messages) * seconds / taken;
        const double next = is_enough ? wanted : std::min(wanted / 2, static_cast<double>(work.messages) * 16);
        work.messages = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(next), 1, most);
        if (is_enough || work.messages == most) {
            return work.messages;
        }
    }
}

std::uint64_t messages_of(const Selection& selection, std::size_t size) {
    if (selection.messages != original) {
        return number_in(selection.messages);
    }
    switch (size) {  // as in ServerLink's reports
        case 64: return 100'000;
        case 1024: return 50'000;
        case 8 * 1024: return 10'000;
        case 64 * 1024: return 1'000;
        default: throw std::runtime_error("no original number of messages for " + size_name(size));
    }
}

std::string title_of(const Selection& selection, const Workload& work) {
    std::string title = selection.is_fanout               ? "fan-out "
                        : work.pattern == Pattern::pubsub ? "PUB/SUB "
                                                          : "ROUTER-ROUTER ";
    title += to_string(work.transport);
    title += selection.curve ? ", CURVE" : "";
    title += work.topics == 1 ? "" : ", " + std::to_string(work.topics) + " topics";
    return title;
}

std::string name_of(const Selection& selection, const Workload& work) {
    std::string size = size_name(work.size);
    if (!selection.is_fanout) {
        return size;
    }
    const std::string count = std::to_string(work.receivers);
    return (selection.sizes.size() > 1 ? size + ", " : "") + count + (count == "1" ? " subscriber" : " subscribers");
}

/// Adds the cells of a group, which differ in the size and the number of receivers.
void add_cells(CellGroup& group, const Selection& selection, Workload work) {
    for (const std::size_t size : selection.sizes) {
        work.size = size;
        work.messages = messages_of(selection, size);
        for (const std::size_t count : selection.subscribers) {
            work.receivers = count;
            if (is_possible(work)) {
                group.cells.push_back({name_of(selection, work), work, selection.seconds});
            }
        }
    }
}

Plan plan_selected(const Selection& selection, Report& report) {
    const std::vector<SocketEngine> engines = engines_of(selection);
    report.parameters.emplace_back("libzmq", about_libzmq());
    Plan plan;
    if (cells_of(selection).empty()) {
        throw std::runtime_error("nothing to measure: inproc supports neither --curve nor --two-processes");
    }
    for (const CellGroup& cells : cells_of(selection)) {
        Group& group = plan.emplace_back(Group{cells.title});
        for (const Cell& cell : cells.cells) {
            for (const SocketEngine& engine : engines) {
                add_engine(group, cell, engine, report);
            }
        }
        group.finish = [cells, &report] {
            for (const Cell& cell : cells.cells) {
                add_comparisons(report, cells.title, "messages per second", cell.name);
            }
        };
    }
    return plan;
}

}  // namespace

void add_options(CLI::App& app, Selection& selection) {
    if (selection.is_fanout) {
        add_list(app, "--subscribers", selection.subscribers, "Numbers of subscribers, separated by commas")
            ->check(CLI::Range(std::size_t{1}, Board::receivers_max));
        add_list(app, "--topics", selection.topics,
                 "Numbers of topics, separated by commas; with more than one, each subscriber has a different topic")
            ->check(CLI::Range(1, 10'000));
        add_list(app, "--io-threads", selection.io_threads,
                 "Numbers of I/O threads of Telegate's publisher, separated by commas")
            ->check(CLI::Range(1, 64));
    } else {
        add_list(app, "--pattern", selection.patterns, "Publisher to Subscriber, Router to Router, separated by commas")
            ->check(CLI::IsMember({"pubsub", "router"}));
        app.add_flag("--two-processes", selection.two_processes, "The receiver is a process; not over inproc");
    }
    add_list(app, "--size", selection.sizes, "Payload sizes in bytes, separated by commas")
        ->check(CLI::Range(16, 4 * 1024 * 1024));
    add_list(app, "--transport", selection.transports, "Transports, separated by commas")
        ->check(CLI::IsMember({"tcp", "ipc", "inproc"}));
    add_list(app, "--engine", selection.engines, "Engines, separated by commas")
        ->check(CLI::IsMember({"telegate", "libzmq", "raw"}));
    app.add_option("--variants", selection.variants, "Variants of libzmq: all, or only that of ServerLink's reports")
        ->check(CLI::IsMember({"all", "reported"}));
    auto* const seconds = app.add_option("--seconds", selection.seconds, "Approximate seconds per engine and run")
                              ->check(CLI::Range(0.001, 600.0));
    app.add_option("--messages", selection.messages,
                   "Messages per engine and run, or \"original\"; overrides --seconds")
        ->check(number_or(original, messages_max))
        ->excludes(seconds);
    app.add_flag("--curve", selection.curve, "Encrypt; the defaults are then 64 B and 8 KiB over tcp");
    app.callback([&app, &selection] {
        if (selection.curve && app.count("--size") == 0) {
            selection.sizes = {64, 8 * 1024};
            app.get_option("--size")->default_str("[64,8192]");
        }
        if (selection.curve && app.count("--transport") == 0) {
            selection.transports = {"tcp"};
            app.get_option("--transport")->default_str("[tcp]");
        }
    });
}

std::vector<CellGroup> cells_of(const Selection& selection) {
    std::vector<CellGroup> groups;
    Workload work;
    work.two_processes = selection.two_processes;
    work.curve = selection.curve;
    for (const std::string& pattern : selection.patterns) {
        work.pattern = pattern == "pubsub" ? Pattern::pubsub : Pattern::router;
        for (const std::size_t topics : selection.topics) {
            work.topics = topics;
            for (const std::string& transport : selection.transports) {
                work.transport = transport_of(transport);
                CellGroup& group = groups.emplace_back(CellGroup{title_of(selection, work), {}});
                add_cells(group, selection, work);
            }
        }
    }
    std::erase_if(groups, [](const CellGroup& group) { return group.cells.empty(); });
    return groups;
}

std::vector<SocketEngine> engines_of(const Selection& selection) {
    std::vector<SocketEngine> engines;
    std::size_t most_threads = 1;
    for (const std::size_t count : selection.io_threads) {
        engines.push_back(telegate_engine(
            count, "telegate, " + std::to_string(count) + (count == 1 ? " I/O thread" : " I/O threads")));
        most_threads = std::max(most_threads, count);
    }
    if (engines.empty()) {
        engines.push_back(telegate_engine(1, "telegate"));
    }
    add_libzmq(engines, selection.variants == "all", most_threads);
    engines.push_back({"raw", [](const Workload& work) { return raw::can_run(work) ? messages_max : 0; }, raw::run});
    std::erase_if(engines, [&](const SocketEngine& engine) {
        return !contains(selection.engines, engine.name.substr(0, engine.name.find(',')));
    });
    if (engines.empty()) {
        throw std::runtime_error("no engine to measure: libzmq is " + about_libzmq());
    }
    return engines;
}

void add_engine(Group& group, const Cell& cell, const SocketEngine& engine, Report& report) {
    if (engine.messages_max(cell.work) == 0) {
        return;
    }
    const std::string row = cell.name + ": " + engine.name;
    group.engines.push_back(
        {row, [=, title = group.title, work = cell.work, seconds = cell.seconds, &report]() mutable {
             if (work.messages == 0) {  // before the first run
                 work.messages = messages_in(seconds, engine, work);
             }
             work.messages = std::min(work.messages, engine.messages_max(work));
             const Outcome outcome = engine.run(work);
             const std::size_t copies = work.topics == 1 ? work.receivers : 1;
             const auto counted = static_cast<double>(work.messages * copies);
             report.add(title + ", messages per second", row, counted / outcome.seconds);
             report.add(title + ", CPU ns per message, all threads", row, outcome.cpu_seconds * 1e9 / counted);
             if (work.receivers > 1) {
                 report.add(title + ", CPU ns per message, without the receivers", row,
                            outcome.publisher_cpu_seconds * 1e9 / counted);
             }
         }});
}

void add_comparisons(Report& report, const std::string& title, const std::string& unit, const std::string& cell) {
    const bool lower_is_better = unit == "microseconds";
    const auto rates = std::ranges::find(report.tables, title + ", " + unit, &Table::title);
    if (rates == report.tables.end()) {
        return;
    }
    const std::vector<Row> rows = rates->rows;
    const auto score = [lower_is_better](const Row* row) {
        const double median = spread_of(row->values).median;
        return lower_is_better ? -median : median;
    };
    const Row* first = nullptr;  // the variant of libzmq as reported
    const Row* best = nullptr;
    const Row* raw = nullptr;
    for (const Row& row : rows) {
        if (row.name == cell + ": raw") {
            raw = &row;
        } else if (row.name.starts_with(cell + ": libzmq")) {
            first = first == nullptr ? &row : first;
            best = best == nullptr || score(&row) > score(best) ? &row : best;
        }
    }
    for (const Row& ours : rows) {
        if (!ours.name.starts_with(cell + ": telegate")) {
            continue;
        }
        const auto add = [&](const std::string& other, const Row* row) {
            report.add_ratio(title + ", ratios; above 1, Telegate is better", ours.name + " to " + other,
                             lower_is_better ? Report::Ratio{row, &ours} : Report::Ratio{&ours, row});
        };
        add("libzmq", first);
        if (best != first) {
            add("the best" + best->name.substr(cell.size() + 1), best);
        }
        add("raw", raw);
    }
}

std::string size_name(std::size_t bytes) {
    constexpr std::size_t kib = 1024;
    if (bytes < kib || bytes % kib != 0) {
        return std::to_string(bytes) + " B";
    }
    return bytes % (kib * kib) == 0 ? std::to_string(bytes / kib / kib) + " MiB" : std::to_string(bytes / kib) + " KiB";
}

Planner describe_transport_command(CLI::App& app) {
    return make_planner<Selection>(app, add_options, plan_selected, Selection(false));
}

Planner describe_fanout_command(CLI::App& app) {
    return make_planner<Selection>(app, add_options, plan_selected, Selection(true));
}

}  // namespace telegate::perf
