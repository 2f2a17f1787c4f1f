#include "command.hpp"
#include "queue/engines.hpp"
#include "queue/samples.hpp"
#include "system.hpp"

#include <memory>
#include <stdexcept>

namespace telegate::perf {

namespace {

struct CrossingWork {
    std::uint64_t samples = 1'000'000;
    std::size_t capacity = 65'536;
    std::size_t producers = 1;
    bool bulk = false;  // whether several samples are pushed and popped at once
};

struct Crossing {
    double rate = 0;  // samples received or reported as lost per second
    std::uint64_t lost = 0;
};

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
    if (!receipts.complete(work.samples, lost_by(engine))) {
        throw std::runtime_error(std::string(name) + " lost or reordered samples: " + std::to_string(work.samples) +
                                 " sent, " + std::to_string(receipts.count()) + " received, " +
                                 std::to_string(lost_by(engine)) + " reported as lost");
    }
    return {static_cast<double>(work.samples) / time.count(), lost_by(engine)};
}

/// Single samples at a steady rate.
struct PacingWork {
    std::size_t samples = 20'000;
    std::size_t capacity = 65'536;
    std::chrono::nanoseconds interval{10'000};  // 100,000 per second
    Placement placement;
};

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

/// Returns the nanoseconds from before each push until after its pop. Sample k is due at k intervals after the start,
/// so a slow queue gets no extra time.
template <class Engine>
std::vector<std::int64_t> pace(const PacingWork& work) {
    Engine engine(work.capacity);
    std::vector<std::int64_t> latencies;
    latencies.reserve(work.samples);
    std::thread consumer([&] {
        const Pin pin(work.placement.answering);
        TelemetrySample sample{};
        while (latencies.size() < work.samples) {
            spin_until([&] { return engine.pop(std::span(&sample, 1)) == 1; });
            latencies.push_back(now_ns() - sample.time_mono_ns);
        }
    });
    {
        const Pin pin(work.placement.asking);
        typename Engine::Producer producer{engine};
        auto sample = blank_sample<TelemetrySample>();
        std::int64_t due = now_ns();
        for (std::size_t number = 0; number < work.samples; ++number) {
            due += work.interval.count();
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
    std::vector<std::int64_t> (*pace)(const PacingWork& work) = nullptr;
    double (*hold)(std::size_t capacity, std::size_t samples) = nullptr;
};

template <class Sample>
struct Contenders {
    std::vector<Contender> list;

    template <class Engine>
    void add_single(const char* name) {
        list.push_back({name, false, cross<Engine, Sample>});
    }
    template <class Engine>
    void add_bulk(const char* name) {
        list.push_back({name, true, cross<Engine, Sample>});
    }
    /// Latency and memory of this queue are measured, too.
    template <class Engine>
    void add_watched(const char* name) {
        add_single<Engine>(name);
        if constexpr (std::is_same_v<Sample, TelemetrySample>) {
            list.back().pace = pace<Engine>;
            list.back().hold = hold<Engine>;
        }
    }
};

/// Returns the queues that support this number of producers. A BoundedQueue cannot hold StringSample.
template <class Sample>
std::vector<Contender> contenders(std::size_t producers) {
    Contenders<Sample> all;
    all.template add_watched<MutexEngine<Sample>>("mutex_queue");
    if (producers == 1) {
        all.template add_watched<BoostEngine<Sample>>("boost spsc single");
        all.template add_bulk<BoostEngine<Sample>>("boost spsc bulk");
#ifdef TELEGATE_READERWRITERQUEUE
        all.template add_watched<ReaderWriterEngine<Sample>>("readerwriterqueue");
#endif
    }
    all.template add_watched<MoodycamelEngine<Sample>>("moodycamel single");
    all.template add_watched<MoodycamelTokenEngine<Sample>>("moodycamel token");
    all.template add_bulk<MoodycamelTokenEngine<Sample>>("moodycamel bulk");
    if constexpr (std::is_trivially_copyable_v<Sample>) {
        using enum OverflowPolicy;
        all.template add_watched<BoundedEngine<Sample, block>>("Bounded single block");
        all.template add_bulk<BoundedEngine<Sample, block>>("Bounded bulk block");
        all.template add_single<BoundedEngine<Sample, drop_newest>>("Bounded single drop_newest");
        all.template add_bulk<BoundedEngine<Sample, drop_newest>>("Bounded bulk drop_newest");
        all.template add_single<BoundedEngine<Sample, drop_oldest>>("Bounded single drop_oldest");
        all.template add_bulk<BoundedEngine<Sample, drop_oldest>>("Bounded bulk drop_oldest");
    }
    return all.list;
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
    if (!receipts.complete(samples, 0)) {
        throw std::runtime_error("mutex_queue lost or reordered samples: " + std::to_string(samples) + " sent, " +
                                 std::to_string(receipts.count()) + " received");
    }
    return static_cast<double>(samples) / time.count();
}

/// Adds a run of all queues with one type of sample. `losses` gets the percentages of lost samples.
template <class Sample>
void add_crossings(Report& report, Section& losses, const QueueOptions& options, const std::string& size) {
    for (const std::size_t producers : options.producers) {
        const std::string title =
            size + ", " + std::to_string(producers) + (producers == 1 ? " producer" : " producers");
        Section& section = report.section(title, "samples per second");
        for (const Contender& contender : contenders<Sample>(producers)) {
            const Crossing crossing =
                contender.cross(contender.name, {options.samples, options.capacity, producers, contender.bulk});
            section.add(contender.name, crossing.rate);
            if (std::string_view(contender.name).find("drop_") != std::string_view::npos) {
                losses.add(title + ": " + contender.name,
                           100.0 * static_cast<double>(crossing.lost) / static_cast<double>(options.samples));
            }
        }
    }
}

void add_latencies(Report& report, const QueueOptions& options) {
    PacingWork work;
    work.samples = options.paced;
    work.capacity = options.capacity;
    work.placement = placement_of("apart");
    for (const Contender& contender : contenders<TelemetrySample>(1)) {
        if (contender.pace != nullptr) {
            std::vector<std::int64_t> latencies = contender.pace(work);
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

void add_run(Report& report, Section& losses, const QueueOptions& options) {
    report.add("mutex_queue, copy", cross_locked(options.samples, false));
    report.add("mutex_queue, move", cross_locked(options.samples, true));
    for (const std::size_t size : options.sizes) {
        if (size == 64) {
            add_crossings<TelemetrySample>(report, losses, options, "64 B");
        } else {
            add_crossings<InlineTextSample>(report, losses, options, "240 B");
            add_crossings<StringSample>(report, losses, options, "240 B with std::string");
        }
    }
    if (options.paced > 0) {
        add_latencies(report, options);
    }
    add_memory(report, options.capacity);
}

const Row* find_row(const Report& report, const std::string& title, const std::string& name) {
    const auto section = std::ranges::find(report.sections, title, &Section::title);
    if (section == report.sections.end()) {
        return nullptr;
    }
    const auto row = std::ranges::find(section->rows, name, &Row::name);
    return row == section->rows.end() ? nullptr : &*row;
}

struct Comparison {
    const char* our_way;
    const char* other;
    Goal goal{};
};

void add_ratio(Report& report, const std::string& title, const Comparison& compared) {
    const bool with_first = std::string_view(compared.other) == "mutex_queue, copy";
    const Row* const over = find_row(report, title, std::string("Bounded ") + compared.our_way);
    const Row* const under = with_first ? &report.rows.front() : find_row(report, title, compared.other);
    if (over != nullptr && under != nullptr) {
        report.add_ratio(title + ": " + compared.our_way + " / " + compared.other, *over, *under, compared.goal);
    }
}

void add_ratios(Report& report) {
    report.add_ratio("mutex_queue, move / copy", "mutex_queue, move", "mutex_queue, copy");
    for (const std::string size : {"64 B", "240 B"}) {
        for (const Comparison& compared : {Comparison{"single block", "mutex_queue, copy", Goal::at_least(10)},
                                           {"bulk block", "mutex_queue, copy", Goal::at_least(10)},
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

Report measure(const QueueOptions& options, std::size_t runs) {
    Report warm_up{"", ""};
    Report report{"queue", "samples per second"};
    Section losses{"lost, of all samples", "percent"};
    Section ignored{"", ""};
    add_run(warm_up, ignored, options);
    for (std::size_t run = 0; run < runs; ++run) {
        add_run(report, losses, options);
    }
    report.sections.push_back(std::move(losses));
    report.parameters = {{"threads", "of paced samples: " + words_of(placement_of("apart"))}};
    add_ratios(report);
    return report;
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
