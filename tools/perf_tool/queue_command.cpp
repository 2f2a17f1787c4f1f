#include "command.hpp"
#include "queue_engines.hpp"
#include "system.hpp"

#include <stdexcept>

namespace telegate::perf {

namespace {

constexpr const char* reference = "TelemetryHub's sample, samples per second";
constexpr std::size_t push_items = 64;  // as a driver with many channels pushes
constexpr std::size_t pop_items = 256;  // as the consumer pops

struct QueueOptions {
    std::uint64_t samples = 1'000'000;
    std::size_t capacity = 65'536;
    std::vector<std::size_t> sizes{64, 240};
    std::vector<std::size_t> producers{1, 2, 4};
    std::size_t paced = 20'000;
};

/// Some samples are created in advance, so that copies do not wait for recent writes.
template <class Queue, class Sample>
void produce(Queue& queue, std::uint32_t number, std::uint64_t samples, bool is_bulk) {
    typename Queue::Producer producer{queue};
    std::vector<Sample> batch(push_items);
    for (std::uint64_t seq = 0; seq < samples;) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(push_items, samples - seq));
        const std::span<const Sample> made(batch.data(), count);
        for (std::size_t index = 0; index < count; ++index) {
            renew(batch[index], number, ++seq);
        }
        if constexpr (requires { producer.push(made); }) {
            if (is_bulk) {
                producer.push(made);
                continue;
            }
        }
        for (const Sample& sample : made) {
            producer.push(sample);
        }
    }
}

template <class Queue, class Sample>
void consume(Queue& queue, std::uint64_t samples, bool is_bulk, Receipts& receipts) {
    std::vector<Sample> taken(is_bulk ? pop_items : 1);
    while (receipts.count() < samples) {
        const std::size_t count = queue.pop(taken);
        for (const Sample& sample : std::span(taken).first(count)) {
            receipts.record(sample);
        }
        if (count == 0) {
            if (receipts.count() + lost_by(queue) == samples) {
                break;
            }
            std::this_thread::yield();
        }
    }
}

void require_complete(const Receipts& receipts, std::uint64_t sent, std::uint64_t lost) {
    if (!receipts.complete(sent, lost)) {
        throw std::runtime_error("samples were lost or reordered: " + std::to_string(sent) + " sent, " +
                                 std::to_string(receipts.count()) + " received, " + std::to_string(lost) +
                                 " reported as lost");
    }
}

struct Crossing {
    double rate = 0;  // samples received or reported as lost per second
    double lost_percent = 0;
};

/// Sends samples from the producers to one consumer. The time includes the start and the end of the consumer's thread;
/// the calling thread is the first producer.
template <class Queue, class Sample>
Crossing cross(const QueueOptions& options, std::size_t producers, bool is_bulk) {
    Queue queue(options.capacity);
    Receipts receipts(producers);
    const auto share = [&](std::size_t number) {
        return options.samples / producers + (number < options.samples % producers ? 1 : 0);
    };
    const auto begin = std::chrono::steady_clock::now();
    std::thread consumer([&] { consume<Queue, Sample>(queue, options.samples, is_bulk, receipts); });
    std::vector<std::thread> others;
    for (std::uint32_t number = 1; number < producers; ++number) {
        others.emplace_back([&, number] { produce<Queue, Sample>(queue, number, share(number), is_bulk); });
    }
    produce<Queue, Sample>(queue, 0, share(0), is_bulk);
    for (std::thread& other : others) {
        other.join();
    }
    consumer.join();
    const double seconds = seconds_since(begin);
    require_complete(receipts, options.samples, lost_by(queue));
    const auto samples = static_cast<double>(options.samples);
    return {samples / seconds, 100.0 * static_cast<double>(lost_by(queue)) / samples};
}

/// The reference: a sample that owns its text in a queue with a mutex. Returns samples per second.
double cross_locked(std::uint64_t samples, bool moves) {
    MutexEngine<LabeledSample> queue(0);
    Receipts receipts(1);
    const auto begin = std::chrono::steady_clock::now();
    std::thread consumer([&] {
        LabeledSample sample;
        while (receipts.count() < samples) {
            queue.pop(std::span(&sample, 1));
            receipts.record(sample);
        }
    });
    for (std::uint64_t seq = 1; seq <= samples; ++seq) {
        LabeledSample sample;
        sample.value = static_cast<double>(seq);
        sample.seq = static_cast<std::uint32_t>(seq);
        moves ? queue.push(std::move(sample)) : queue.push(sample);
    }
    consumer.join();
    const double seconds = seconds_since(begin);
    require_complete(receipts, samples, 0);
    return static_cast<double>(samples) / seconds;
}

std::int64_t now_ns() noexcept {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

/// Spins, but yields occasionally for machines with one processor.
template <class Condition>
void spin_until(Condition condition) {
    for (unsigned rounds = 1; !condition(); ++rounds) {
        if (rounds % 4'096 == 0) {
            std::this_thread::yield();
        }
    }
}

/// Sends single samples at a steady rate. Returns the nanoseconds from before each push until after its pop. Sample k
/// is due at k intervals after the start, so a slow queue gets no extra time.
template <class Queue>
std::vector<std::int64_t> pace(std::size_t capacity, std::size_t samples) {
    constexpr std::int64_t interval_ns = 10'000;  // 100,000 per second
    const auto processors = two_processors();
    Queue queue(capacity);
    std::vector<std::int64_t> latencies;
    latencies.reserve(samples);
    std::thread consumer([&] {
        if (processors) {
            pin_thread(processors->second);
        }
        TelemetrySample sample{};
        while (latencies.size() < samples) {
            spin_until([&] { return queue.pop(std::span(&sample, 1)) == 1; });
            latencies.push_back(now_ns() - sample.time_mono_ns);
        }
    });
    std::thread sender([&] {
        if (processors) {
            pin_thread(processors->first);
        }
        typename Queue::Producer producer{queue};
        TelemetrySample sample{};
        std::int64_t due = now_ns();
        for (std::size_t number = 0; number < samples; ++number) {
            due += interval_ns;
            spin_until([due] { return now_ns() >= due; });
            renew(sample, 0, number + 1);
            sample.time_mono_ns = now_ns();
            producer.push(sample);
        }
    });
    sender.join();
    consumer.join();
    return latencies;
}

/// Returns the bytes of a queue that holds a number of samples, after ten times as many have passed through it.
template <class Queue>
double hold(std::size_t capacity, std::size_t samples) {
    const std::size_t before = bytes_allocated();
    const auto queue = std::make_unique<Queue>(capacity);
    typename Queue::Producer producer{*queue};
    TelemetrySample sample{};
    const auto push = [&](std::size_t count) {
        for (std::uint64_t seq = 1; seq <= count; ++seq) {
            renew(sample, 0, seq);
            producer.push(sample);
        }
    };
    for (std::size_t round = 0; round < 10; ++round) {
        push(samples);
        for (std::size_t left = samples; left > 0; --left) {
            queue->pop(std::span(&sample, 1));
        }
    }
    push(samples);
    return static_cast<double>(bytes_allocated() - before);
}

/// A ratio of a BoundedQueue to another queue.
struct Comparison {
    const char* our_way;
    const char* other;  // null: the reference
    Goal goal{};
};

std::vector<Comparison> comparisons_of(std::size_t producers) {
    if (producers == 1) {
        return {{"single block", nullptr, Goal::at_least(10)},
                {"bulk block", nullptr, Goal::at_least(10)},
                {"single block", "boost spsc single", Goal::at_least(1)},
                {"bulk block", "boost spsc bulk", Goal::at_least(1)}};
    }
    return {{"single block", "moodycamel token"}, {"bulk block", "moodycamel bulk", Goal::at_least(1)}};
}

/// Returns all queues with one type of sample and a number of producers.
template <class Sample>
Group crossings(const QueueOptions& options, std::size_t producers, Report& report) {
    Group group{std::to_string(sizeof(Sample)) + " B, " + std::to_string(producers) +
                (producers == 1 ? " producer" : " producers")};
    const std::string rates = group.title + ", samples per second";
    for_each_queue<Sample>(producers, [&](auto type, const std::string& name, bool is_bulk) {
        using Queue = typename decltype(type)::type;
        group.engines.push_back({name, [=, title = group.title, &report] {
                                     const Crossing crossing = cross<Queue, Sample>(options, producers, is_bulk);
                                     report.add(rates, name, crossing.rate);
                                     if (name.find("drop_") != std::string::npos) {
                                         report.add(title + ", lost, percent", name, crossing.lost_percent);
                                     }
                                 }});
    });
    group.finish = [=, title = group.title, &report] {
        for (const auto& [our_way, other, goal] : comparisons_of(producers)) {
            report.add_ratio(title + ", ratios",
                             std::string(our_way) + " / " + (other == nullptr ? "mutex_queue, copy" : other),
                             {report.find(rates, std::string("Bounded ") + our_way),
                              other == nullptr ? report.find(reference, "copy") : report.find(rates, other)},
                             goal);
        }
    };
    return group;
}

Group copies_and_moves(const QueueOptions& options, Report& report) {
    Group group{"mutex_queue"};
    for (const char* const name : {"copy", "move"}) {
        group.engines.push_back({name, [=, &report] {
                                     const bool moves = std::string_view(name) == "move";
                                     report.add(reference, name, cross_locked(options.samples, moves));
                                 }});
    }
    group.finish = [&report] {
        report.add_ratio("TelemetryHub's sample, ratio", "move / copy",
                         {report.find(reference, "move"), report.find(reference, "copy")});
    };
    return group;
}

/// Adds the latencies and the memory of a queue with one producer and single samples.
template <class Queue>
void measure_alone(const QueueOptions& options, const std::string& name, Report& report) {
    if (options.paced > 0) {
        std::vector<std::int64_t> latencies = pace<Queue>(options.capacity, options.paced);
        for (const auto& [label, share] : {std::pair{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}}) {
            report.add(std::string("100,000 samples a second, one by one, ") + label + ", nanoseconds", name,
                       static_cast<double>(quantile(latencies, share)));
        }
    }
    report.add("with 10 samples, bytes allocated", name,
               hold<Queue>(options.capacity, std::min<std::size_t>(options.capacity, 10)));
    report.add("full, bytes allocated for each sample", name,
               hold<Queue>(options.capacity, options.capacity) / static_cast<double>(options.capacity));
}

Group latencies_and_memory(const QueueOptions& options, Report& report) {
    Group group{"latency and memory"};
    for_each_queue<TelemetrySample>(1, [&](auto type, const std::string& name, bool is_bulk) {
        using Queue = typename decltype(type)::type;
        if (!is_bulk && name.find("drop_") == std::string::npos) {
            group.engines.push_back({name, [=, &report] {
                                         measure_alone<Queue>(options, name, report);
                                     }});
        }
    });
    return group;
}

Plan plan(const QueueOptions& options, Report& report) {
    Plan groups{copies_and_moves(options, report)};
    for (const std::size_t size : options.sizes) {
        for (const std::size_t producers : options.producers) {
            groups.push_back(size == 64 ? crossings<TelemetrySample>(options, producers, report)
                                        : crossings<InlineTextSample>(options, producers, report));
        }
    }
    groups.push_back(latencies_and_memory(options, report));
    return groups;
}

void add_options(CLI::App& app, QueueOptions& chosen) {
    app.add_option("samples", chosen.samples, "Samples per run")->check(CLI::Range(1, 1'000'000'000));
    app.add_option("--capacity", chosen.capacity, "Capacity of queues that have one; producers wait if it is full")
        ->check(CLI::Range(std::size_t{1}, BoundedQueue<TelemetrySample>::capacity_max));
    add_list(app, "--size", chosen.sizes, "Sample sizes in bytes, separated by commas")
        ->check(CLI::IsMember({64, 240}));
    add_list(app, "--producers", chosen.producers, "Numbers of producer threads, separated by commas")
        ->check(CLI::Range(1, 64));
    app.add_option("--paced", chosen.paced, "Samples at 100,000 per second, for latencies; 0: none")
        ->check(CLI::Range(0, 100'000'000));
}

}  // namespace

Planner describe_queue_command(CLI::App& app) {
    return make_planner<QueueOptions>(app, add_options, plan);
}

}  // namespace telegate::perf
