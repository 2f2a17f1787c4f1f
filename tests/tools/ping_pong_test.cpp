#include "transport/ping_pong.hpp"

#include "statistics.hpp"
#include "support/catch.hpp"

#include <sched.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace telegate;
using namespace telegate::perf;

namespace {

LatencyWork work_of(std::uint64_t round_trips) {
    LatencyWork work;
    work.round_trips = round_trips;
    return work;
}

Bytes same(Bytes payload) {
    return payload;
}

void nothing() {}

}  // namespace

TEST_CASE("a percentile is the least time that its share of all times are not above", "[tools][latency]") {
    std::vector<std::uint64_t> ns(1'000);
    std::iota(ns.begin(), ns.end(), 1);
    CHECK(quantile(ns, 0.5) == 500);
    CHECK(quantile(ns, 0.99) == 990);
    CHECK(quantile(ns, 0.999) == 999);
    CHECK(quantile(ns, 1.0) == 1000);
    std::vector<std::uint64_t> one{7'000};
    CHECK(quantile(one, 0.5) == 7'000);
}

TEST_CASE("a run has as many round trips as were asked for", "[tools][latency]") {
    CHECK(time_round_trips(work_of(1), same).ns.size() == 1);
    CHECK(time_round_trips(work_of(3'000), same).ns.size() == 3'000);
}

TEST_CASE("a run ends with its time, after one round trip at least", "[tools][latency]") {
    LatencyWork work = work_of(1'000'000);
    work.time = std::chrono::nanoseconds(1);
    CHECK(time_round_trips(work, same).ns.size() == 1);
}

TEST_CASE("an answer of another number, size or end is refused", "[tools][latency]") {
    const std::size_t changed = GENERATE(std::size_t{0}, std::size_t{63});
    std::vector<std::byte> answer;
    const auto change = [&](Bytes payload) {
        answer.assign(payload.begin(), payload.end());
        answer[changed] ^= std::byte{1};
        return Bytes(answer);
    };
    CHECK_THROWS_AS(time_round_trips(work_of(1), change), std::runtime_error);
    CHECK_THROWS_AS(time_round_trips(work_of(1), [](Bytes payload) { return payload.first(63); }), std::runtime_error);
}

TEST_CASE("an answer that comes twice is refused", "[tools][latency]") {
    std::vector<std::byte> first;
    const auto repeat = [&first](Bytes payload) {
        if (first.empty()) {
            first.assign(payload.begin(), payload.end());
        }
        return Bytes(first);
    };
    CHECK_THROWS_AS(time_round_trips(work_of(2), repeat), std::runtime_error);
}

TEST_CASE("a fault of the side that answers is told, also when the other one fails for it", "[tools][latency]") {
    const auto fault = [] {
        throw std::runtime_error("answering");
    };
    CHECK_THROWS_MATCHES(run_both({}, fault, [] { return RoundTrips{}; }), std::runtime_error,
                         Catch::Matchers::Message("answering"));
    CHECK_THROWS_MATCHES(run_both({}, fault, []() -> RoundTrips { throw std::runtime_error("asking"); }),
                         std::runtime_error, Catch::Matchers::Message("answering"));
}

TEST_CASE("a fault of the side that asks ends both", "[tools][latency]") {
    CHECK_THROWS_MATCHES(run_both({}, nothing, []() -> RoundTrips { throw std::runtime_error("asking"); }),
                         std::runtime_error, Catch::Matchers::Message("asking"));
}

TEST_CASE("both sides run where they are placed, and nobody does afterwards", "[tools][latency]") {
    const int processor = placement_of("together").asking.value();
    int asking = -1;
    int answering = -1;
    (void)run_both(
        {processor, processor}, [&] { answering = ::sched_getcpu(); },
        [&] {
            asking = ::sched_getcpu();
            return RoundTrips{};
        });
    CHECK(asking == processor);
    CHECK(answering == processor);
    cpu_set_t set;
    REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
    CHECK(static_cast<unsigned>(CPU_COUNT(&set)) == std::thread::hardware_concurrency());
}

TEST_CASE("apart are two processors where there are two, and free is none", "[tools][latency]") {
    const Placement apart = placement_of("apart");
    CHECK((std::thread::hardware_concurrency() > 1) == (apart.asking != apart.answering));
    CHECK_FALSE(placement_of("free").asking.has_value());
    CHECK(words_of(placement_of("free")) == "where the system puts them");
    CHECK(words_of({2, 5}) == "pinned to processors 2 and 5");
    CHECK(words_of({3, 3}) == "both pinned to processor 3");
}
