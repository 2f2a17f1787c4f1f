#include "statistics.hpp"
#include "support/catch.hpp"
#include "tally.hpp"

#include <cstdint>
#include <initializer_list>

using namespace telegate::perf;

namespace {

Tally tally_of(std::initializer_list<std::uint64_t> seqs) {
    Tally tally;
    for (const std::uint64_t seq : seqs) {
        tally.take(seq);
    }
    return tally;
}

}  // namespace

TEST_CASE("a tally is complete when every seq came once and in order", "[tools]") {
    CHECK(tally_of({1, 2, 3}).complete(3));
    CHECK(tally_of({}).complete(0));
}

TEST_CASE("a tally is not complete when a sample is missing, doubled, swapped or foreign", "[tools]") {
    CHECK_FALSE(tally_of({1, 2}).complete(3));
    CHECK_FALSE(tally_of({1, 3}).complete(2));
    CHECK_FALSE(tally_of({1, 2, 2}).complete(3));
    CHECK_FALSE(tally_of({1, 3, 2}).complete(3));
    CHECK_FALSE(tally_of({1, 2, 3, 4}).complete(3));
}

TEST_CASE("the spread of an odd number of values has the middle one as its median", "[tools]") {
    const Spread spread = spread_of({9.0, 1.0, 2.0});
    CHECK(spread.median == 2.0);
    CHECK(spread.min == 1.0);
    CHECK(spread.max == 9.0);
}

TEST_CASE("the spread of an even number of values has the mean of the middle two as its median", "[tools]") {
    CHECK(spread_of({4.0, 1.0, 3.0, 2.0}).median == 2.5);
}

TEST_CASE("a ratio compares each run with the same run of the other row", "[tools]") {
    const Row row = ratio("fast over slow", {"fast", {6.0, 8.0}}, {"slow", {3.0, 2.0}});
    CHECK(row.name == "fast over slow");
    CHECK(row.values == std::vector<double>{2.0, 4.0});
}
