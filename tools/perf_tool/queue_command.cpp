#include "command.hpp"
#include "queue/contenders.hpp"
#include "queue/mutex_queue.hpp"
#include "tally.hpp"

#include "core/bounded_queue.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

constexpr const char* our_queue = "Bounded";
constexpr std::array<std::pair<const char*, double>, 3> quantiles{{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}}};

struct QueueOptions {
    std::uint64_t samples = 1'000'000;
    std::size_t capacity = 65'536;
    std::vector<std::size_t> sizes{64, 240};
    std::vector<std::size_t> producers{1, 2, 4};
    std::size_t paced = 20'000;
};

/// A part of the report, and for each of its rows how to get a value for it.
struct Part {
    std::string title;
    std::string unit;
    int decimals = 0;
    std::vector<std::string> names{};
    std::vector<std::function<double()>> measures{};

    void add(std::string name, std::function<double()> measure) {
        names.push_back(std::move(name));
        measures.push_back(std::move(measure));
    }
};

/// The yardstick: a sample that owns its text through a locked queue, samples per second.
double cross_locked(std::uint64_t samples, bool moves) {
    MutexQueue<LabelledSample> queue;
    Tally tally;
    const auto begin = std::chrono::steady_clock::now();
    std::thread consumer([&] {
        while (const auto sample = queue.pop()) {
            tally.take(sample->seq);
        }
    });
    for (std::uint64_t seq = 1; seq <= samples; ++seq) {
        LabelledSample sample;
        sample.value = static_cast<double>(seq);
        sample.seq = static_cast<std::uint32_t>(seq);
        if (moves) {
            queue.push(std::move(sample));
        } else {
            queue.push(sample);
        }
    }
    queue.close();
    consumer.join();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (!tally.complete(samples)) {
        throw std::runtime_error("mutex_queue lost or reordered samples: " + std::to_string(samples) + " sent, " +
                                 std::to_string(tally.count()) + " received");
    }
    return static_cast<double>(samples) / time.count();
}

Part yardstick(const QueueOptions& options) {
    Part part{"a sample with a std::string through a mutex queue", "samples per second"};
    part.add("mutex_queue, copy", [&options] { return cross_locked(options.samples, false); });
    part.add("mutex_queue, move", [&options] { return cross_locked(options.samples, true); });
    return part;
}

void add_crossing(Part& part, Part& losses, const Contender& contender, CrossingWork work) {
    work.bulk = contender.bulk;
    const auto lost = std::make_shared<std::uint64_t>(0);
    part.add(contender.name, [contender, work, lost] {
        const Crossing crossing = contender.cross(contender.name, work);
        *lost = crossing.lost;
        return crossing.rate;
    });
    if (std::string(contender.name).find("drop_") != std::string::npos) {
        losses.add(part.title + ": " + contender.name,
                   [lost, work] { return 100.0 * static_cast<double>(*lost) / static_cast<double>(work.samples); });
    }
}

template <class Sample>
void add_crossings(std::vector<Part>& parts, Part& losses, const QueueOptions& options, const std::string& size) {
    for (const std::size_t producers : options.producers) {
        const char* const noun = producers == 1 ? " producer" : " producers";
        Part part{size + ", " + std::to_string(producers) + noun, "samples per second"};
        for (const Contender& contender : contenders<Sample>(producers)) {
            add_crossing(part, losses, contender, {options.samples, options.capacity, producers});
        }
        parts.push_back(std::move(part));
    }
}

/// The first part measures; the others look at what it has found.
void add_latencies(std::vector<Part>& parts, const QueueOptions& options) {
    PacingWork work;
    work.samples = options.paced;
    work.capacity = options.capacity;
    work.placement = placement_of("apart");
    const std::size_t first = parts.size();
    for (const auto& [name, share] : quantiles) {
        parts.push_back({std::string("100,000 samples a second, one by one, ") + name, "nanoseconds"});
    }
    for (const Contender& contender : contenders<TelemetrySample>(1)) {
        if (contender.pace == nullptr) {
            continue;
        }
        const auto found = std::make_shared<std::vector<std::int64_t>>();
        parts[first].add(contender.name, [contender, work, found] {
            *found = contender.pace(work);
            return static_cast<double>(quantile(*found, quantiles[0].second));
        });
        for (std::size_t index = 1; index < quantiles.size(); ++index) {
            parts[first + index].add(contender.name, [found, index] {
                return static_cast<double>(quantile(*found, quantiles[index].second));
            });
        }
    }
}

void add_memory(std::vector<Part>& parts, const QueueOptions& options) {
    Part few{"10 samples inside", "bytes allocated"};
    Part full{"full", "bytes allocated for each sample", 1};
    for (const Contender& contender : contenders<TelemetrySample>(1)) {
        if (contender.hold != nullptr) {
            const std::size_t capacity = options.capacity;
            few.add(contender.name, [contender, capacity] {
                return contender.hold({capacity, std::min<std::size_t>(capacity, 10)});
            });
            full.add(contender.name, [contender, capacity] {
                return contender.hold({capacity, capacity}) / static_cast<double>(capacity);
            });
        }
    }
    parts.push_back(std::move(few));
    parts.push_back(std::move(full));
}

std::vector<Part> parts_of(const QueueOptions& options) {
    std::vector<Part> parts{yardstick(options)};
    Part losses{"lost, of all samples", "percent", 1};
    for (const std::size_t size : options.sizes) {
        if (size == 64) {
            add_crossings<TelemetrySample>(parts, losses, options, "64 B");
        } else {
            add_crossings<InlineTextSample>(parts, losses, options, "240 B");
            add_crossings<StringSample>(parts, losses, options, "240 B with std::string");
        }
    }
    parts.push_back(std::move(losses));
    if (options.paced > 0) {
        add_latencies(parts, options);
    }
    add_memory(parts, options);
    return parts;
}

const Row* find_row(const Report& report, const std::string& title, const std::string& name) {
    for (const Section& section : report.sections) {
        const auto row = std::find_if(section.rows.begin(), section.rows.end(),
                                      [&](const Row& one) { return section.title == title && one.name == name; });
        if (row != section.rows.end()) {
            return &*row;
        }
    }
    return nullptr;
}

struct Comparison {
    const char* our_way;
    const char* other;
    Goal goal{};
};

void add_ratio(Report& report, const std::string& title, const Comparison& compared) {
    const bool with_first = std::string_view(compared.other) == "mutex_queue, copy";
    const Row* const over = find_row(report, title, our_queue + std::string(" ") + compared.our_way);
    const Row* const under = with_first ? &report.rows.front() : find_row(report, title, compared.other);
    if (over != nullptr && under != nullptr) {
        report.ratios.push_back(ratio(title + ": " + compared.our_way + " / " + compared.other, *over, *under));
        report.ratios.back().goal = compared.goal;
    }
}

void add_ratios(Report& report) {
    report.ratios.push_back(ratio("mutex_queue, move / copy", report.rows[1], report.rows[0]));
    for (const char* const size : {"64 B", "240 B"}) {
        for (const Comparison& compared : {Comparison{"single block", "mutex_queue, copy", Goal::at_least(10)},
                                           {"bulk block", "mutex_queue, copy", Goal::at_least(10)},
                                           {"single block", "boost spsc single", Goal::at_least(1)},
                                           {"bulk block", "boost spsc bulk", Goal::at_least(1)}}) {
            add_ratio(report, std::string(size) + ", 1 producer", compared);
        }
        for (const char* const producers : {", 2 producers", ", 4 producers"}) {
            add_ratio(report, size + std::string(producers), {"single block", "moodycamel token"});
            add_ratio(report, size + std::string(producers), {"bulk block", "moodycamel bulk", Goal::at_least(1)});
        }
    }
}

Report measure(const QueueOptions& options, const CommonOptions& common) {
    Report report{"queue", "samples per second", {}, {}, {}};
    report.parameters = {{"samples", std::to_string(options.samples)},
                         {"capacity", std::to_string(options.capacity) + " where there is one"},
                         {"runs", std::to_string(common.runs) + " after one to warm up"},
                         {"bulk", "pushed by 64, popped by up to 256"},
                         {"240 B", "the text is inside; with std::string where a queue holds such"},
                         {"Bounded", "BoundedQueue, for one producer or several; with drop_* some are lost, see there"},
                         {"paced", words_of(placement_of("apart"))}};
    const std::vector<Part> parts = parts_of(options);
    for (const Part& part : parts) {
        report.sections.push_back({part.title, part.unit, {}, part.decimals});
        for (std::size_t row = 0; row < part.names.size(); ++row) {
            part.measures[row]();
            report.sections.back().rows.push_back({part.names[row], {}});
        }
    }
    for (std::size_t run = 0; run < common.runs; ++run) {
        for (std::size_t part = 0; part < parts.size(); ++part) {
            for (std::size_t row = 0; row < parts[part].names.size(); ++row) {
                report.sections[part].rows[row].values.push_back(parts[part].measures[row]());
            }
        }
    }
    report.rows = std::move(report.sections.front().rows);
    report.sections.erase(report.sections.begin());
    add_ratios(report);
    return report;
}

}  // namespace

Command::Action describe_queue_command(CLI::App& options) {
    const auto chosen = std::make_shared<QueueOptions>();
    options.add_option("samples", chosen->samples, "Samples that cross the queue in each run")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
    options.add_option("--capacity", chosen->capacity, "Of the queues that have one; who finds it full waits")
        ->check(CLI::Range(std::size_t{1}, BoundedQueue<TelemetrySample>::capacity_max))
        ->capture_default_str();
    options.add_option("--size", chosen->sizes, "Bytes of a sample: 64, 240")
        ->delimiter(',')
        ->check(CLI::IsMember({64, 240}))
        ->capture_default_str();
    options.add_option("--producers", chosen->producers, "Threads that push")
        ->delimiter(',')
        ->check(CLI::Range(std::size_t{1}, std::size_t{64}))
        ->capture_default_str();
    options.add_option("--paced", chosen->paced, "Samples at 100,000 a second, for latencies; 0 for none")
        ->check(CLI::Range(std::size_t{0}, std::size_t{100'000'000}))
        ->capture_default_str();
    return [chosen](const CommonOptions& common) {
        return measure(*chosen, common);
    };
}

}  // namespace telegate::perf
