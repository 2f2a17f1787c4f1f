// The memory that a queue uses.
#include "core/single_producer_lane.hpp"
#include "core/telemetry_sample.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <vector>

using namespace telegate;

namespace {

using Lane = SingleProducerLane<TelemetrySample>;

/// Adds and takes the items, `rounds` times.
void cross(Lane& lane, std::size_t items, std::size_t capacity, int rounds) {
    std::vector<TelemetrySample> samples(items);
    for (int round = 0; round < rounds; ++round) {
        REQUIRE(lane.put(samples, capacity) == items);
        REQUIRE(lane.take(samples) == items);
    }
}

}  // namespace

TEST_CASE("a lane that is read in time allocates nothing, whatever its capacity", "[core][queue]") {
    constexpr std::size_t capacity = 65'536;
    Lane lane(capacity, 4);
    const std::size_t blocks = lane.blocks();
    CHECK(blocks * Lane::block_items <= 1'024);
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
