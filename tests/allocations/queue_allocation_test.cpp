#include "core/bounded_queue.hpp"
#include "core/telemetry_sample.hpp"
#include "counted_malloc.hpp"
#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::size_t capacity = 4'096;

/// Overfills the queue and empties it in batches. Returns how many samples were lost.
std::uint64_t run_over(BoundedQueue<TelemetrySample>& queue, const std::vector<TelemetrySample>& samples) {
    std::uint64_t lost = 0;
    queue.push(queue.first(), std::span<const TelemetrySample>(samples),
               [&lost](const TelemetrySample&, QueueLoss) { ++lost; });
    std::array<TelemetrySample, 100> batch;
    while (queue.pop(batch) > 0) {
    }
    return lost;
}

}  // namespace

TEST_CASE("a queue that has been full once allocates nothing more", "[core][allocations]") {
    const auto policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest);
    BoundedQueue<TelemetrySample> queue(capacity, policy);
    const std::vector<TelemetrySample> samples(capacity + 1'000);
    std::uint64_t lost = run_over(queue, samples);
    const std::uint64_t before = allocations();
    for (int round = 0; round < 100; ++round) {
        lost += run_over(queue, samples);
    }
    CHECK(allocations() - before == 0);
    CHECK(lost == 101 * 1'000);
}
