#pragma once

#include "samples.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace telegate::perf {

/// What crosses a queue, and how.
struct CrossingWork {
    std::uint64_t samples = 1'000'000;
    std::size_t capacity = 65'536;
    std::size_t producers = 1;
    bool bulk = false;  // pushed and popped several at once
};

struct Crossing {
    double rate = 0;  // samples that arrived or were told as lost, per second
    std::uint64_t lost = 0;
};

inline constexpr std::size_t push_items = 64;  // what a driver with many channels hands over at once
inline constexpr std::size_t pop_items = 256;  // what the consumer takes at once

/// Samples are made some ahead, so that no copy waits for what was written an instant before.
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
        if (bulk) {
            producer.push(made);
            continue;
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
            if (receipts.count() + engine.lost() == work.samples) {
                break;
            }
            std::this_thread::yield();
        }
    }
}

/// Sends the samples from the producers to one consumer. The clock runs from before the consumer's thread starts until
/// after it has ended; with one producer, that is the calling thread.
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
    if (!receipts.complete(work.samples, engine.lost())) {
        throw std::runtime_error(std::string(name) + " lost or reordered samples: " + std::to_string(work.samples) +
                                 " sent, " + std::to_string(receipts.count()) + " received, " +
                                 std::to_string(engine.lost()) + " said to be lost");
    }
    return {static_cast<double>(work.samples) / time.count(), engine.lost()};
}

}  // namespace telegate::perf
