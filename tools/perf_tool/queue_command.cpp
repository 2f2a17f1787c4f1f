#include "command.hpp"
#include "mutex_queue.hpp"
#include "tally.hpp"

#include "core/bounded_queue.hpp"
#include "core/telemetry_sample.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

constexpr std::size_t batch_items = 64;  // what a driver with many channels hands over at once
constexpr std::size_t pop_items = 256;   // what the consumer takes at once

struct QueueOptions {
    std::uint64_t samples = 1'000'000;
    std::size_t capacity = BoundedQueue<TelemetrySample>::capacity_max;
};

enum class Handover { copy, move, batch };

/// Starts `consume` in its own thread and runs `produce` here. Seconds from before that start until both are done.
template <class Produce, class Consume>
double time_crossing(Produce produce, Consume consume) {
    const auto begin = std::chrono::steady_clock::now();
    std::thread consumer(consume);
    produce();
    consumer.join();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Samples per second, or an exception when the consumer did not get them all.
double rate(const char* engine, const Tally& tally, std::uint64_t samples, double seconds) {
    if (!tally.complete(samples)) {
        throw std::runtime_error(std::string(engine) + " lost or reordered samples: " + std::to_string(samples) +
                                 " sent, " + std::to_string(tally.count()) + " received");
    }
    return static_cast<double>(samples) / seconds;
}

double run_mutex_queue(const QueueOptions& options, Handover handover) {
    MutexQueue<LabelledSample> queue;
    Tally tally;
    const auto produce = [&] {
        for (std::uint64_t seq = 1; seq <= options.samples; ++seq) {
            LabelledSample sample;
            sample.value = static_cast<double>(seq);
            sample.seq = static_cast<std::uint32_t>(seq);
            if (handover == Handover::copy) {
                queue.push(sample);
            } else {
                queue.push(std::move(sample));
            }
        }
        queue.close();
    };
    const auto consume = [&] {
        while (const auto sample = queue.pop()) {
            tally.take(sample->seq);
        }
    };
    const double seconds = time_crossing(produce, consume);
    return rate("mutex_queue", tally, options.samples, seconds);
}

TelemetrySample make_sample(std::uint64_t seq) noexcept {
    TelemetrySample sample{};
    sample.seq = seq;
    sample.type = ValueType::real;
    sample.value.real = static_cast<double>(seq);
    return sample;
}

template <class OnLoss>
void push_batches(BoundedQueue<TelemetrySample>& queue, std::uint64_t samples, OnLoss& on_loss) {
    std::array<TelemetrySample, batch_items> batch;
    for (std::uint64_t sent = 0; sent < samples;) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(batch_items, samples - sent));
        for (std::size_t index = 0; index < count; ++index) {
            batch[index] = make_sample(++sent);
        }
        queue.push(std::span<const TelemetrySample>(batch.data(), count), on_loss);
    }
}

double run_bounded_queue(const QueueOptions& options, Handover handover) {
    BoundedQueue<TelemetrySample> queue(options.capacity, OverflowPolicy::block);
    Tally tally;
    const auto produce = [&] {
        const auto on_loss = [](const TelemetrySample&, QueueLoss) {
        };
        if (handover == Handover::batch) {
            return push_batches(queue, options.samples, on_loss);
        }
        for (std::uint64_t seq = 1; seq <= options.samples; ++seq) {
            if (handover == Handover::copy) {
                const TelemetrySample sample = make_sample(seq);
                queue.push(sample, on_loss);
            } else {
                queue.push(make_sample(seq), on_loss);  // the same bytes: such a sample has nothing to move
            }
        }
    };
    const auto consume = [&] {
        std::array<TelemetrySample, pop_items> taken;
        while (tally.count() + queue.lost() < options.samples) {
            const std::size_t count = queue.pop(taken);
            if (count == 0) {
                std::this_thread::yield();
            }
            for (const TelemetrySample& sample : std::span(taken).first(count)) {
                tally.take(sample.seq);
            }
        }
    };
    const double seconds = time_crossing(produce, consume);
    return rate("bounded_queue", tally, options.samples, seconds);
}

struct Engine {
    const char* name;
    double (*run)(const QueueOptions&, Handover);
    Handover handover;
};

// Rows of the report, in this order; measure() below names them by position.
constexpr std::array<Engine, 5> engines{{
    {"mutex_queue, copy", run_mutex_queue, Handover::copy},
    {"mutex_queue, move", run_mutex_queue, Handover::move},
    {"bounded_queue, copy", run_bounded_queue, Handover::copy},
    {"bounded_queue, move", run_bounded_queue, Handover::move},
    {"bounded_queue, batches of 64", run_bounded_queue, Handover::batch},
}};

Report measure(const QueueOptions& options, const CommonOptions& common) {
    Report report{"queue", "samples per second", {}, {}, {}};
    report.parameters = {{"samples", std::to_string(options.samples)},
                         {"capacity", std::to_string(options.capacity) + " (bounded_queue, policy block)"},
                         {"runs", std::to_string(common.runs) + " after one to warm up"},
                         {"threads", "one producer, one consumer"}};
    for (const Engine& engine : engines) {
        engine.run(options, engine.handover);
        report.rows.push_back({engine.name, {}});
    }
    for (std::size_t run = 0; run < common.runs; ++run) {
        for (std::size_t index = 0; index < engines.size(); ++index) {
            report.rows[index].values.push_back(engines[index].run(options, engines[index].handover));
        }
    }
    const std::vector<Row>& rows = report.rows;
    report.ratios = {ratio("mutex_queue, move over copy", rows[1], rows[0]),
                     ratio("bounded_queue, move over copy", rows[3], rows[2]),
                     ratio("bounded over mutex, copy", rows[2], rows[0]),
                     ratio("bounded over mutex, move", rows[3], rows[1]),
                     ratio("bounded batches over mutex move", rows[4], rows[1])};
    return report;
}

}  // namespace

Command::Action describe_queue_command(CLI::App& options) {
    const auto chosen = std::make_shared<QueueOptions>();
    options.add_option("samples", chosen->samples, "Samples that cross the queue in each run")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
    options.add_option("--capacity", chosen->capacity, "Of bounded_queue; the producer waits when it is full")
        ->check(CLI::Range(std::size_t{1}, BoundedQueue<TelemetrySample>::capacity_max))
        ->capture_default_str();
    return [chosen](const CommonOptions& common) {
        return measure(*chosen, common);
    };
}

}  // namespace telegate::perf
