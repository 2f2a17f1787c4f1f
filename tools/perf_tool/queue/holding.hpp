#pragma once

#include "samples.hpp"

#include <malloc.h>

#include <cstddef>
#include <memory>
#include <span>

namespace telegate::perf {

/// What a queue's memory is measured with.
struct HoldingWork {
    std::size_t capacity = 65'536;
    std::size_t samples = 10;  // that are inside
};

/// Bytes that the heap of the main thread has given out; 0 where a sanitizer has another heap.
[[nodiscard]] inline std::size_t bytes_allocated() noexcept {
    const auto heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

/// Bytes of a queue that holds so many samples, itself included, after ten times as many have gone through it.
template <class Engine>
double hold(const HoldingWork& work) {
    const std::size_t before = bytes_allocated();
    const auto engine = std::make_unique<Engine>(work.capacity);
    typename Engine::Producer producer{*engine};
    auto sample = blank_sample<TelemetrySample>();
    auto push = [&, seq = std::uint64_t{0}](std::size_t count) mutable {
        for (std::size_t left = count; left > 0; --left) {
            renew(sample, 0, ++seq);
            producer.push(sample);
        }
    };
    for (std::size_t round = 0; round < 10; ++round) {
        push(work.samples);
        for (std::size_t left = work.samples; left > 0; --left) {
            engine->pop(std::span(&sample, 1));
        }
    }
    push(work.samples);
    return static_cast<double>(bytes_allocated() - before);
}

}  // namespace telegate::perf
