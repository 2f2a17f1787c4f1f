#include "command.hpp"
#include "queue/engines.hpp"
#include "queue/samples.hpp"
#include "system.hpp"

#include <memory>
#include <stdexcept>

namespace telegate::perf {

namespace {

struct CrossingWork {
    std::uint64_t samples;
    std::size_t capacity;
    std::size_t producers;
    bool bulk;  // whether several samples are pushed and popped at once
};

struct Crossing {
    double rate = 0;  // samples received or reported as lost per second
    std::uint64_t lost = 0;
};

constexpr const char* first_queue = "mutex_queue, copy";  // the reference

constexpr std::size_t push_items = 64;  // as a driver with many channels pushes
constexpr std::size_t pop_items = 256;  // as the consumer pops

/// Some samples are created in advance, so that copies do not wait for recent writes.
template <class Engine, class Sample>
void produce(Engine& engine, std::uint32_t number, std::uint64_t samples, bool bulk) {
    typename Engine::Producer producer{engine};
    std::vector<Sample> batch(push_items, blank_sample<Sample>());
    for (std::uint64_t seq = 0; seq < samples;) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(push_items, samples - seq));
        const std::span<const Sample> made(batch.data(), count);
        for (std::size_t index = 0; index < count; ++index) {
            renew(batch[index], number, ++seq);
        }
        if constexpr (requires { producer.push(made); }) {
            if (bulk) {
                producer.push(made);
                continue;
            }
        }
        for (const Sample& sample : made) {
            producer.push(sample);
        }
    }
}

template <class Engine, class Sample>
void consume(Engine& engine, const CrossingWork& work, Receipts& receipts) {
    std::vector<Sample> taken(work.bulk ? pop_items : 1);
    while (receipts.count() < work.samples) {
        const std::size_t count = engine.pop(taken);
        for (const Sample& sample : std::span(taken).first(count)) {
            receipts.take(sample);
        }
        if (count == 0) {
            if (receipts.count() + lost_by(engine) == work.samples) {
                break;
            }
            std::this_thread::yield();
        }
    }
}

void require_complete(const char* name, const Receipts& receipts, std::uint64_t sent, std::uint64_t lost) {
    if (!receipts.complete(sent, lost)) {
        throw std::runtime_error(std::string(name) + " lost or reordered samples: " + std::to_string(sent) + " sent, " +
                                 std::to_string(receipts.count()) + " received, " + std::to_string(lost) +
                                 " reported as lost");
    }
}

/// Sends samples from the producers to one consumer. The time includes the start and the end of the consumer's thread;
/// the calling thread is the first producer.
template <class Engine, class Sample>
Crossing cross(const char* name, const CrossingWork& work) {
    Engine engine(work.capacity);
    Receipts receipts(work.producers);
    const auto share = [&work](std::size_t number) {
        return work.samples / work.producers + (number < work.samples % work.producers ? 1 : 0);
    };
    const auto begin = std::chrono::steady_clock::now();
    std::thread consumer([&] { consume<Engine, Sample>(engine, work, receipts); });
    std::vector<std::thread> others;
    for (std::uint32_t number = 1; number < work.producers; ++number) {
        others.emplace_back([&, number] { produce<Engine, Sample>(engine, number, share(number), work.bulk); });
    }
    produce<Engine, Sample>(engine, 0, share(0), work.bulk);
    for (std::thread& other : others) {
        other.join();
    }
    consumer.join();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    require_complete(name, receipts, work.samples, lost_by(engine));
    return {static_cast<double>(work.samples) / time.count(), lost_by(engine)};
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
template <class Engine>
std::vector<std::int64_t> pace(std::size_t capacity, std::size_t samples) {
    constexpr std::int64_t interval_ns = 10'000;  // 100,000 per second
    const Placement placement = placement_of("apart");
    Engine engine(capacity);
    std::vector<std::int64_t> latencies;
    latencies.reserve(samples);
    std::thread consumer([&] {
        const Pin pin(placement.answering);
        TelemetrySample sample{};
        while (latencies.size() < samples) {
            spin_until([&] { return engine.pop(std::span(&sample, 1)) == 1; });
            latencies.push_back(now_ns() - sample.time_mono_ns);
        }
    });
    {
        const Pin pin(placement.asking);
        typename Engine::Producer producer{engine};
        auto sample = blank_sample<TelemetrySample>();
        std::int64_t due = now_ns();
        for (std::size_t number = 0; number < samples; ++number) {
            due += interval_ns;
            spin_until([due] { return now_ns() >= due; });
            renew(sample, 0, number + 1);
            sample.time_mono_ns = now_ns();
            producer.push(sample);
        }
    }
    consumer.join();
    return latencies;
}

/// Returns the bytes of a queue that holds a number of samples, after ten times as many have passed through it.
template <class Engine>
double hold(std::size_t capacity, std::size_t samples) {
    const std::size_t before = bytes_allocated();
    const auto engine = std::make_unique<Engine>(capacity);
    typename Engine::Producer producer{*engine};
    auto sample = blank_sample<TelemetrySample>();
    auto push = [&, seq = std::uint64_t{0}](std::size_t count) mutable {
        for (std::size_t left = count; left > 0; --left) {
            renew(sample, 0, ++seq);
            producer.push(sample);
        }
    };
    for (std::size_t round = 0; round < 10; ++round) {
        push(samples);
        for (std::size_t left = samples; left > 0; --left) {
            engine->pop(std::span(&sample, 1));
        }
    }
    push(samples);
    return static_cast<double>(bytes_allocated() - before);
}

constexpr std::array<std::pair<const char*, double>, 3> quantiles{{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}}};

struct QueueOptions {
    std::uint64_t samples = 1'000'000;
    std::size_t capacity = 65'536;
    std::vector<std::size_t> sizes{64, 240};
    std::vector<std::size_t> producers{1, 2, 4};
    std::size_t paced = 20'000;
};

/// A queue and how it is used.
struct Contender {
    const char* name;
    bool bulk;
    Crossing (*cross)(const char* name, const CrossingWork& work);
    // Only for TelemetrySample, and only for one way of use per queue.
    std::vector<std::int64_t> (*pace)(std::size_t capacity, std::size_t samples) = nullptr;
    double (*hold)(std::size_t capacity, std::size_t samples) = nullptr;
};

enum class Use : std::uint8_t { single, bulk, watched };  // watched: single, and latency and memory are measured, too

template <class Engine, class Sample>
Contender contender(const char* name, Use use) {
    Contender made{name, use == Use::bulk, cross<Engine, Sample>};
    if constexpr (std::is_same_v<Sample, TelemetrySample>) {
        if (use == Use::watched) {
            made.pace = pace<Engine>;
            made.hold = hold<Engine>;
        }
    }
    return made;
}

/// Returns the queues that support this number of producers. A BoundedQueue cannot hold StringSample.
template <class Sample>
std::vector<Contender> contenders(std::size_t producers) {
    using enum OverflowPolicy;
    using enum Use;
    std::vector<Contender> all{contender<MutexEngine<Sample>, Sample>("mutex_queue", watched)};
    if (producers == 1) {
        all.push_back(contender<BoostEngine<Sample>, Sample>("boost spsc single", watched));
        all.push_back(contender<BoostEngine<Sample>, Sample>("boost spsc bulk", bulk));
#ifdef TELEGATE_READERWRITERQUEUE
        all.push_back(contender<ReaderWriterEngine<Sample>, Sample>("readerwriterqueue", watched));
#endif
    }
    all.push_back(contender<MoodycamelEngine<Sample>, Sample>("moodycamel single", watched));
    all.push_back(contender<MoodycamelTokenEngine<Sample>, Sample>("moodycamel token", watched));
    all.push_back(contender<MoodycamelTokenEngine<Sample>, Sample>("moodycamel bulk", bulk));
    if constexpr (std::is_trivially_copyable_v<Sample>) {
        all.push_back(contender<BoundedEngine<Sample, block>, Sample>("Bounded single block", watched));
        all.push_back(contender<BoundedEngine<Sample, block>, Sample>("Bounded bulk block", bulk));
        all.push_back(contender<BoundedEngine<Sample, drop_newest>, Sample>("Bounded single drop_newest", single));
        all.push_back(contender<BoundedEngine<Sample, drop_newest>, Sample>("Bounded bulk drop_newest", bulk));
        all.push_back(contender<BoundedEngine<Sample, drop_oldest>, Sample>("Bounded single drop_oldest", single));
        all.push_back(contender<BoundedEngine<Sample, drop_oldest>, Sample>("Bounded bulk drop_oldest", bulk));
    }
    return all;
}

/// The reference: a sample that owns its text in a queue with a mutex. Returns samples per second.
double cross_locked(std::uint64_t samples, bool moves) {
    MutexQueue<LabeledSample> queue;
    Receipts receipts(1);
    const auto begin = std::chrono::steady_clock::now();
    std::thread consumer([&] {
        while (const auto sample = queue.pop()) {
            receipts.take(*sample);
        }
    });
    for (std::uint64_t seq = 1; seq <= samples; ++seq) {
        LabeledSample sample;
        sample.value = static_cast<double>(seq);
        sample.seq = static_cast<std::uint32_t>(seq);
        moves ? queue.push(std::move(sample)) : queue.push(sample);
    }
    queue.close();
    consumer.join();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    require_complete("mutex_queue", receipts, samples, 0);
    return static_cast<double>(samples) / time.count();
}

/// Adds a run of all queues with one type of sample, and the percentages of lost samples.
template <class Sample>
void add_crossings(Report& report, Steps& steps, const QueueOptions& options, const std::string& size) {
    for (const std::size_t producers : options.producers) {
        const std::string title =
            size + ", " + std::to_string(producers) + (producers == 1 ? " producer" : " producers");
        steps.next(title);
        for (const Contender& contender : contenders<Sample>(producers)) {
            const Crossing crossing =
                contender.cross(contender.name, {options.samples, options.capacity, producers, contender.bulk});
            steps.check();
            report.section(title, "samples per second").add(contender.name, crossing.rate);
            if (std::string_view(contender.name).find("drop_") != std::string_view::npos) {
                report.section("lost, of all samples", "percent")
                    .add(title + ": " + contender.name,
                         100.0 * static_cast<double>(crossing.lost) / static_cast<double>(options.samples));
            }
        }
    }
}

void add_latencies(Report& report, const QueueOptions& options) {
    for (const Contender& contender : contenders<TelemetrySample>(1)) {
        if (contender.pace != nullptr) {
            std::vector<std::int64_t> latencies = contender.pace(options.capacity, options.paced);
            for (const auto& [name, share] : quantiles) {
                report.section(std::string("100,000 samples a second, one by one, ") + name, "nanoseconds")
                    .add(contender.name, static_cast<double>(quantile(latencies, share)));
            }
        }
    }
}

void add_memory(Report& report, std::size_t capacity) {
    for (const Contender& contender : contenders<TelemetrySample>(1)) {
        if (contender.hold != nullptr) {
            report.section("with 10 samples", "bytes allocated")
                .add(contender.name, contender.hold(capacity, std::min<std::size_t>(capacity, 10)));
            report.section("full", "bytes allocated for each sample")
                .add(contender.name, contender.hold(capacity, capacity) / static_cast<double>(capacity));
        }
    }
}

void add_run(Report& report, Steps& steps, const QueueOptions& options) {
    steps.next("mutex_queue");
    report.add(first_queue, cross_locked(options.samples, false));
    report.add("mutex_queue, move", cross_locked(options.samples, true));
    for (const std::size_t size : options.sizes) {
        if (size == 64) {
            add_crossings<TelemetrySample>(report, steps, options, "64 B");
        } else {
            add_crossings<InlineTextSample>(report, steps, options, "240 B");
            add_crossings<StringSample>(report, steps, options, "240 B with std::string");
        }
    }
    steps.next("latency and memory");
    if (options.paced > 0) {
        add_latencies(report, options);
    }
    add_memory(report, options.capacity);
}

/// Returns the steps of a run.
std::size_t steps_of(const QueueOptions& options) {
    std::size_t steps = 2;
    for (const std::size_t size : options.sizes) {
        steps += (size == 64 ? 1 : 2) * options.producers.size();
    }
    return steps;
}

struct Comparison {
    const char* our_way;
    const char* other;
    Goal goal{};
};

/// Adds the ratio of a BoundedQueue to another queue. The first queue has no section.
void add_ratio(Report& report, const std::string& title, const Comparison& compared) {
    const auto section = std::ranges::find(report.sections, title, &Section::title);
    if (section != report.sections.end()) {
        const auto& others = std::string_view(compared.other) == first_queue ? report.rows : section->rows;
        report.add_ratio(title + ": " + compared.our_way + " / " + compared.other,
                         find_row(section->rows, std::string("Bounded ") + compared.our_way),
                         find_row(others, compared.other), compared.goal);
    }
}

void add_ratios(Report& report) {
    report.add_ratio("mutex_queue, move / copy", "mutex_queue, move", first_queue);
    for (const std::string size : {"64 B", "240 B"}) {
        for (const Comparison& compared : {Comparison{"single block", first_queue, Goal::at_least(10)},
                                           {"bulk block", first_queue, Goal::at_least(10)},
                                           {"single block", "boost spsc single", Goal::at_least(1)},
                                           {"bulk block", "boost spsc bulk", Goal::at_least(1)}}) {
            add_ratio(report, size + ", 1 producer", compared);
        }
        for (const char* const producers : {", 2 producers", ", 4 producers"}) {
            add_ratio(report, size + producers, {"single block", "moodycamel token"});
            add_ratio(report, size + producers, {"bulk block", "moodycamel bulk", Goal::at_least(1)});
        }
    }
}

void measure(const QueueOptions& options, Steps& steps, Report& report) {
    report = {"queue", "samples per second"};
    report.parameters = {{"threads", "of paced samples: " + words_of(placement_of("apart"))}};
    steps.expect((steps.runs() + 1) * steps_of(options));
    Report warm_up;
    add_run(warm_up, steps, options);
    for (std::size_t run = 0; run < steps.runs(); ++run) {
        add_run(report, steps, options);
    }
    add_ratios(report);
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

Command::Action describe_queue_command(CLI::App& app) {
    return make_action<QueueOptions>(app, add_options, measure);
}

}  // namespace telegate::perf
