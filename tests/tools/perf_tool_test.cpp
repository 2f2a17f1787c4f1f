#include "queue/samples.hpp"
#include "report.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <sstream>
#include <vector>

using namespace telegate::perf;

namespace {

Receipts receipts_of(const std::vector<std::uint32_t>& seqs) {
    Receipts receipts(1);
    for (const std::uint32_t seq : seqs) {
        LabeledSample sample;
        sample.seq = seq;
        receipts.take(sample);
    }
    return receipts;
}

}  // namespace

TEST_CASE("receipts are complete if every sample arrives once and in order, or is reported as lost", "[tools]") {
    CHECK(receipts_of({1, 2, 3}).complete(3, 0));
    CHECK(receipts_of({}).complete(0, 0));
    CHECK(receipts_of({1, 3}).complete(3, 1));
}

TEST_CASE("receipts are incomplete if a sample is missing, duplicate, out of order or unknown", "[tools]") {
    CHECK_FALSE(receipts_of({1, 2}).complete(3, 0));
    CHECK_FALSE(receipts_of({1, 2, 2}).complete(3, 0));
    CHECK_FALSE(receipts_of({1, 3, 2}).complete(3, 0));
    CHECK_FALSE(receipts_of({1, 2, 3, 4}).complete(3, 0));
}

TEST_CASE("values of a run are added to the row with the same name", "[tools]") {
    Report report{"queue", "samples per second"};
    for (const double value : {6.0, 8.0}) {
        report.add("fast", value, Goal::at_least(7));
        report.add("slow", value / 2);
    }
    report.add_ratio("fast over slow", "fast", "slow");
    REQUIRE(report.rows.size() == 2);
    CHECK(report.rows[0].values == std::vector<double>{6, 8});
    CHECK(report.ratios[0].values == std::vector<double>{2, 2});
    std::ostringstream text;
    print_text(text, report);
    CHECK_THAT(text.str(), Catch::Contains("met: at_least 7"));
}

TEST_CASE("the median of an odd number of values is the middle one", "[tools]") {
    const Spread spread = spread_of({9.0, 1.0, 2.0});
    CHECK(spread.median == 2.0);
    CHECK(spread.min == 1.0);
    CHECK(spread.max == 9.0);
}

TEST_CASE("the median of an even number of values is the mean of the two middle ones", "[tools]") {
    CHECK(spread_of({4.0, 1.0, 3.0, 2.0}).median == 2.5);
}

TEST_CASE("a ratio compares each run with the same run of the other row", "[tools]") {
    const Row row = ratio("fast over slow", {"fast", {6.0, 8.0}}, {"slow", {3.0, 2.0}});
    CHECK(row.name == "fast over slow");
    CHECK(row.values == std::vector<double>{2.0, 4.0});
}
