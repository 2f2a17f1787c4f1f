#include "sampler/tick_record.hpp"

#include "support/catch.hpp"

using namespace telegate;
using telegate::perf::TickRecord;
using namespace std::chrono_literals;

namespace {

const MonoTime first_deadline{1s};

}  // namespace

TEST_CASE("the lateness of a tick is the time from its deadline until it is served", "[tools]") {
    TickRecord record(1ms, 3);
    record.begin(first_deadline);
    record.serve(first_deadline + 7us);
    CHECK(record.due() == first_deadline + 1ms);
    record.serve(first_deadline + 1ms + 9us);
    record.serve(first_deadline + 2ms);
    CHECK(record.is_complete());
    CHECK(record.missed() == 0);
    CHECK(record.lateness_at(0.5) == 7'000);
    CHECK(record.lateness_at(0.99) == 9'000);
    CHECK(record.lateness_at(1.0) == 9'000);
}

TEST_CASE("ticks that pass in between are missed and count toward the end", "[tools]") {
    TickRecord record(1ms, 5);
    record.begin(first_deadline);
    record.serve(first_deadline);
    record.serve(first_deadline + 3'500us);
    CHECK(record.due() == first_deadline + 4ms);
    CHECK(record.missed() == 2);
    CHECK_FALSE(record.is_complete());
    record.serve(first_deadline + 4ms);
    CHECK(record.is_complete());
    CHECK(record.served() == 3);
    CHECK(record.lateness_at(1.0) == 2'500'000);
}
