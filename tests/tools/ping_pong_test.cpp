#include "round_trips.hpp"
#include "support/catch.hpp"

#include <sched.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
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

TEST_CASE("a run has the requested number of round trips", "[tools][latency]") {
    CHECK(time_round_trips(work_of(1), same).ns.size() == 1);
    CHECK(time_round_trips(work_of(3'000), same).ns.size() == 3'000);
}

TEST_CASE("a run ends after its time limit, with at least one round trip", "[tools][latency]") {
    LatencyWork work = work_of(1'000'000);
    work.time = std::chrono::nanoseconds(1);
    CHECK(time_round_trips(work, same).ns.size() == 1);
}

TEST_CASE("a reply with the wrong number, size or last byte is rejected", "[tools][latency]") {
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

TEST_CASE("a duplicate reply is rejected", "[tools][latency]") {
    std::vector<std::byte> first;
    const auto repeat = [&first](Bytes payload) {
        if (first.empty()) {
            first.assign(payload.begin(), payload.end());
        }
        return Bytes(first);
    };
    CHECK_THROWS_AS(time_round_trips(work_of(2), repeat), std::runtime_error);
}

TEST_CASE("a failure of the replying side is reported, even if the other side fails because of it",
          "[tools][latency]") {
    const auto fault = [] {
        throw std::runtime_error("answering");
    };
    CHECK_THROWS_MATCHES(run_both({}, fault, [] { return RoundTrips{}; }), std::runtime_error,
                         Catch::Matchers::Message("answering"));
    CHECK_THROWS_MATCHES(run_both({}, fault, []() -> RoundTrips { throw std::runtime_error("asking"); }),
                         std::runtime_error, Catch::Matchers::Message("answering"));
}

TEST_CASE("a failure of the requesting side ends both sides", "[tools][latency]") {
    CHECK_THROWS_MATCHES(run_both({}, nothing, []() -> RoundTrips { throw std::runtime_error("asking"); }),
                         std::runtime_error, Catch::Matchers::Message("asking"));
}

TEST_CASE("both sides run on their assigned processors", "[tools][latency]") {
    const auto processors = two_processors();
    if (!processors) {
        return;
    }
    CHECK(processors->first != processors->second);
    int asking = -1;
    int answering = -1;
    (void)run_both(
        processors, [&] { answering = ::sched_getcpu(); },
        [&] {
            asking = ::sched_getcpu();
            return RoundTrips{};
        });
    CHECK(asking == processors->first);
    CHECK(answering == processors->second);
}
