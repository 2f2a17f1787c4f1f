// The memory that a queue uses.
#include "core/single_producer_queue.hpp"
#include "core/telemetry_sample.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <vector>

using namespace telegate;

namespace {

using SampleQueue = SingleProducerQueue<TelemetrySample>;

/// Adds and takes the items, `rounds` times.
void cross(SampleQueue& queue, std::size_t items, std::size_t capacity, int rounds) {
    std::vector<TelemetrySample> samples(items);
    for (int round = 0; round < rounds; ++round) {
        REQUIRE(queue.put(samples, capacity) == items);
        REQUIRE(queue.pop(samples) == items);
    }
}

}  // namespace

TEST_CASE("a queue that is read in time allocates nothing, whatever its capacity", "[core][queue]") {
    constexpr std::size_t capacity = 65'536;
    SampleQueue queue(capacity, 4);
    const std::size_t blocks = queue.blocks();
    CHECK(blocks * SampleQueue::block_items <= 1'024);
    cross(queue, 10, capacity, 5'000);
    cross(queue, 2 * SampleQueue::block_items, capacity, 50);
    CHECK(queue.blocks() == blocks);
}

TEST_CASE("a queue has no more blocks than its capacity needs", "[core][queue]") {
    const std::size_t capacity = GENERATE(std::size_t{1}, SampleQueue::block_items, std::size_t{10'000});
    SampleQueue queue(capacity, 4);
    cross(queue, capacity, capacity, 20);
    CHECK(queue.blocks() <= SampleQueue::blocks_max(capacity));
    CHECK(queue.blocks() * SampleQueue::block_items <= capacity + 2 * SampleQueue::block_items);
}

TEST_CASE("a queue frees blocks that only a larger capacity needed", "[core][queue]") {
    SampleQueue queue(10'000, 4);
    cross(queue, 10'000, 10'000, 1);
    CHECK(queue.blocks() * SampleQueue::block_items >= 10'000);
    cross(queue, 100, 100, 1'000);
    CHECK(queue.blocks() <= SampleQueue::blocks_max(100));
}
