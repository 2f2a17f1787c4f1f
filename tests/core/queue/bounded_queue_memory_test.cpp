// The memory that a queue uses, and what happens when there is none.
#include "core/bounded_queue.hpp"
#include "core/queue/bounded_queue_pusher.hpp"
#include "core/single_producer_lane.hpp"
#include "core/telemetry_sample.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <new>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

std::atomic<bool> memory_is_gone{false};

/// While it exists, there is no memory for new blocks.
struct NoMemory {
    NoMemory() { memory_is_gone = true; }
    ~NoMemory() { memory_is_gone = false; }
    NoMemory(const NoMemory&) = delete;
    NoMemory& operator=(const NoMemory&) = delete;
};

using Lane = SingleProducerLane<TelemetrySample>;

/// Adds and takes the items, `rounds` times.
void cross(Lane& lane, std::size_t items, std::size_t capacity, int rounds) {
    std::vector<TelemetrySample> samples(items);
    for (int round = 0; round < rounds; ++round) {
        REQUIRE(lane.put(samples, capacity).count == items);
        REQUIRE(lane.take(samples) == items);
    }
}

}  // namespace

// Called by a lane to allocate its blocks; replaced for this whole program.
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    if (memory_is_gone) {
        return nullptr;
    }
    try {
        return ::operator new(bytes, alignment);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

TEST_CASE("a lane that is read in time allocates nothing, whatever its capacity", "[core][queue]") {
    constexpr std::size_t capacity = 65'536;
    Lane lane(capacity, 4);
    const std::size_t blocks = lane.blocks();
    CHECK(blocks * Lane::block_items <= 1'024);
    const NoMemory no_memory;
    cross(lane, 10, capacity, 5'000);
    cross(lane, 2 * Lane::block_items, capacity, 50);
    CHECK(lane.blocks() == blocks);
}

TEST_CASE("a lane has no more blocks than its capacity needs", "[core][queue]") {
    const std::size_t capacity = GENERATE(std::size_t{1}, Lane::block_items, std::size_t{10'000});
    Lane lane(capacity, 4);
    cross(lane, capacity, capacity, 20);
    CHECK(lane.blocks() <= Lane::blocks_max(capacity));
    CHECK(lane.blocks() * Lane::block_items <= capacity + 2 * Lane::block_items);
}

TEST_CASE("a lane frees blocks that only a larger capacity needed", "[core][queue]") {
    Lane lane(10'000, 4);
    cross(lane, 10'000, 10'000, 1);
    CHECK(lane.blocks() * Lane::block_items >= 10'000);
    cross(lane, 100, 100, 1'000);
    CHECK(lane.blocks() <= Lane::blocks_max(100));
}

TEST_CASE("items for which there is no memory are refused and counted, and the queue continues to work",
          "[core][queue]") {
    BoundedQueue<int> queue(100'000, OverflowPolicy::block);
    Pusher pusher{queue};
    {
        const NoMemory no_memory;
        pusher.push(numbers(0, 5'000));
    }
    const int entered = static_cast<int>(queue.size());
    CHECK(entered > 0);
    CHECK(pusher.lost == numbers(entered, 5'000 - entered));
    CHECK(pusher.losses == std::vector(pusher.lost.size(), QueueLoss::refused));
    CHECK(queue.lost() == pusher.lost.size());
    pusher.push(numbers(5'000, 1'000));
    CHECK(pop_up_to(queue, static_cast<std::size_t>(entered)) == numbers(0, entered));
    CHECK(pop_up_to(queue, 2'000) == numbers(5'000, 1'000));
}

TEST_CASE("with drop_oldest, old items are replaced even when there is no memory", "[core][queue]") {
    BoundedQueue<int> queue(500, OverflowPolicy::drop_oldest);
    Pusher pusher{queue};
    const NoMemory no_memory;
    pusher.push(numbers(0, 20'000));
    CHECK(pusher.losses == std::vector(19'500, QueueLoss::evicted));
    CHECK(pop_up_to(queue, 1'000) == numbers(19'500, 500));
}
