#include "selection.hpp"

#include <CLI/CLI.hpp>

#include "board.hpp"
#include "chosen_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace telegate::perf {

namespace {

constexpr std::size_t size_min = 16;
constexpr std::size_t size_max = 4 * 1024 * 1024;
constexpr std::size_t io_threads_max = 64;
constexpr std::size_t topics_max = 1'000'000;
constexpr std::uint64_t messages_max = 10'000'000'000;
constexpr std::string_view original = "original";

[[nodiscard]] std::uint64_t number_in(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

/// Empty when it is a number of messages, else what is wrong with it: as CLI11 wants it.
[[nodiscard]] std::string judge_messages(const std::string& text) {
    const std::uint64_t number = number_in(text);
    return text == original || (number > 0 && number <= messages_max)
               ? std::string()
               : text + " is neither \"original\" nor a number from 1 to " + std::to_string(messages_max);
}

CLI::Option* add_sizes(CLI::App& app, std::vector<std::size_t>& sizes) {
    return app.add_option("--size", sizes, "Bytes of each payload; several with commas between")
        ->delimiter(',')
        ->check(CLI::Range(size_min, size_max))
        ->capture_default_str();
}

/// CURVE has its own defaults, and refuses what it cannot be measured with.
void add_curve(CLI::App& app, EngineSelection& selection, std::vector<std::size_t>& sizes) {
    app.add_flag("--curve", selection.curve,
                 "Sealed by both engines; 64 B and 8 KiB over tcp, if nothing else is named");
    app.callback([&app, &selection, &sizes] {
        if (!selection.curve) {
            return;
        }
        if (app.count("--size") == 0) {
            sizes = {64, 8 * 1024};
        }
        if (app.count("--transport") == 0) {
            selection.transports = {"tcp"};
        } else if (contains(selection.transports, "inproc")) {
            throw CLI::ValidationError("--transport", "inproc has no CURVE");
        }
        if (app.count("--engine") > 0 && contains(selection.engines, "raw")) {
            throw CLI::ValidationError("--engine", "raw has no CURVE");
        }
        std::erase(selection.engines, "raw");
    });
}

void add_engine_options(CLI::App& app, EngineSelection& selection) {
    app.add_option("--transport", selection.transports, "Those to measure, with commas between")
        ->delimiter(',')
        ->check(CLI::IsMember({"tcp", "ipc", "inproc"}))
        ->capture_default_str();
    app.add_option("--engine", selection.engines, "Those to measure, with commas between")
        ->delimiter(',')
        ->check(CLI::IsMember({"telegate", "libzmq", "raw"}))
        ->capture_default_str();
    app.add_option("--variants", selection.variants, "Of libzmq: all, or only as ServerLink's reports set it up")
        ->check(CLI::IsMember({"all", "reported"}))
        ->capture_default_str();
    auto* const seconds = app.add_option("--seconds", selection.seconds, "Time of each engine in each run, about")
                              ->check(CLI::Range(0.001, 600.0))
                              ->capture_default_str();
    app.add_option("--messages", selection.messages, "Instead: sent by each engine in each run, or \"original\"")
        ->check(CLI::Validator(judge_messages, "NUMBER|original"))
        ->excludes(seconds);
}

[[nodiscard]] Transport transport_of(std::string_view name) {
    return name == "tcp" ? Transport::tcp : name == "ipc" ? Transport::ipc : Transport::inproc;
}

[[nodiscard]] std::uint64_t messages_of(const EngineSelection& selection, std::size_t size) {
    if (selection.messages != original) {
        return number_in(selection.messages);
    }
    const std::uint64_t messages = original_messages(size);
    if (messages == 0) {
        throw std::runtime_error("there is no original number of messages of " + size_name(size));
    }
    return messages;
}

void add_if_possible(std::vector<Cell>& cells, Cell cell) {
    if (is_possible(cell.work)) {
        cells.push_back(std::move(cell));
    }
}

/// One cell for each number of subscribers.
void add_fanout(std::vector<Cell>& cells, Workload work, const std::string& group,
                const std::vector<std::size_t>& subscribers) {
    for (const std::size_t count : subscribers) {
        work.receivers = count;
        add_if_possible(cells,
                        {group, std::to_string(count) + (count == 1 ? " subscriber" : " subscribers"), work, {}});
    }
}

}  // namespace

void add_options(CLI::App& app, TransportSelection& selection) {
    app.add_option("--pattern", selection.patterns, "Publisher to Subscriber, Router to Router; with a comma between")
        ->delimiter(',')
        ->check(CLI::IsMember({"pubsub", "router"}))
        ->capture_default_str();
    add_sizes(app, selection.sizes);
    app.add_flag("--two-processes", selection.two_processes, "The receiver in a process of its own; not over inproc");
    add_engine_options(app, selection);
    add_curve(app, selection, selection.sizes);
}

void add_options(CLI::App& app, FanoutSelection& selection) {
    app.add_option("--subscribers", selection.subscribers, "Of one publisher; several with commas between")
        ->delimiter(',')
        ->check(CLI::Range(std::size_t{1}, Board::receivers_max))
        ->capture_default_str();
    app.add_option("--topics", selection.topics,
                   "Published in turn, each subscriber asking for another one; 1: all ask for the same")
        ->delimiter(',')
        ->check(CLI::Range(std::size_t{1}, topics_max))
        ->capture_default_str();
    app.add_option("--io-threads", selection.io_threads,
                   "Of Telegate's publisher, one row for each; several with commas between")
        ->delimiter(',')
        ->check(CLI::Range(std::size_t{1}, io_threads_max));
    add_sizes(app, selection.sizes);
    add_engine_options(app, selection);
    add_curve(app, selection, selection.sizes);
}

std::vector<Cell> cells_of(const TransportSelection& selection) {
    std::vector<Cell> cells;
    for (const std::string& pattern : selection.patterns) {
        for (const std::string& transport : selection.transports) {
            for (const std::size_t size : selection.sizes) {
                Cell cell;
                cell.group = (pattern == "pubsub" ? "PUB/SUB " : "ROUTER-ROUTER ") + transport;
                cell.group += selection.curve ? ", CURVE" : "";
                cell.name = size_name(size);
                cell.work.pattern = pattern == "pubsub" ? Pattern::pubsub : Pattern::router;
                cell.work.transport = transport_of(transport);
                cell.work.size = size;
                cell.work.messages = messages_of(selection, size);
                cell.work.two_processes = selection.two_processes;
                cell.work.curve = selection.curve;
                add_if_possible(cells, std::move(cell));
            }
        }
    }
    return cells;
}

std::vector<Cell> cells_of(const FanoutSelection& selection) {
    std::vector<Cell> cells;
    Workload work;
    work.curve = selection.curve;
    for (const std::size_t topics : selection.topics) {
        work.topics = topics;
        for (const std::string& transport : selection.transports) {
            work.transport = transport_of(transport);
            for (const std::size_t size : selection.sizes) {
                work.size = size;
                work.messages = messages_of(selection, size);
                std::string group = "fan-out " + transport;
                group += selection.curve ? ", CURVE" : "";
                group += selection.sizes.size() == 1 ? "" : ", " + size_name(size);
                group += topics == 1 ? "" : ", " + std::to_string(topics) + " topics";
                add_fanout(cells, work, group, selection.subscribers);
            }
        }
    }
    return cells;
}

RawTrial raw_trial_of(const EngineSelection& selection) {
    RawTrial trial;
    if (selection.messages.empty()) {
        trial.seconds = std::min(trial.seconds, selection.seconds / 3);
    } else if (selection.messages != original) {
        trial.messages_max = number_in(selection.messages);
    }
    return trial;
}

std::uint64_t original_messages(std::size_t size) noexcept {
    constexpr std::array<std::pair<std::size_t, std::uint64_t>, 4> table{
        {{64, 100'000}, {1024, 50'000}, {8 * 1024, 10'000}, {64 * 1024, 1'000}}};
    const auto* const found = std::ranges::find(table, size, &std::pair<std::size_t, std::uint64_t>::first);
    return found == table.end() ? 0 : found->second;
}

}  // namespace telegate::perf
