#include "support/catch.hpp"
#include "transport/byte_ring.hpp"
#include "transport/harness.hpp"
#include "transport/results.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace telegate::perf;

namespace {

constexpr std::size_t message_bytes = 64;

std::vector<char> message_of(std::uint64_t number, std::size_t bytes = message_bytes) {
    std::vector<char> payload(bytes, 'p');
    stamp(payload, number);
    return payload;
}

Checker checker_of(const Share& share, std::initializer_list<std::uint64_t> numbers) {
    Checker checker(message_bytes, share);
    for (const std::uint64_t number : numbers) {
        const auto payload = message_of(number);
        checker.take(payload.data(), payload.size());
    }
    return checker;
}

}  // namespace

TEST_CASE("a checker is done when its messages arrived in order, after any number of greetings", "[tools][checker]") {
    const Checker one = checker_of({0, 1, 3}, {hello_number, hello_number, 0, 1, 2});
    CHECK(one.is_greeted());
    CHECK(one.is_done());
    CHECK(one.received() == 3);
    CHECK_NOTHROW(one.check());
    CHECK_NOTHROW(checker_of({5, 10, 26}, {5, 15, 25}).check());
    CHECK_FALSE(checker_of({5, 10, 26}, {5, 15}).is_done());
    CHECK(checker_of({5, 10, 5}, {}).is_done());
    CHECK_NOTHROW(checker_of({5, 10, 5}, {}).check());
}

TEST_CASE("a checker detects lost, duplicate, reordered, unknown and surplus messages", "[tools][checker]") {
    const Share three{0, 1, 3};
    for (const auto& numbers :
         {std::initializer_list<std::uint64_t>{1}, {0, 2}, {0, 0}, {0, hello_number}, {0, 1, 2, 3}, {256}}) {
        const Checker checker = checker_of(three, numbers);
        CHECK(checker.is_done());
        CHECK_THROWS_AS(checker.check(), std::runtime_error);
    }
}

TEST_CASE("a checker detects a message with the wrong size or last byte", "[tools][checker]") {
    Checker size(message_bytes, {0, 1, 3});
    const auto longer = message_of(0, message_bytes + 1);
    size.take(longer.data(), longer.size());
    CHECK_THROWS_WITH(size.check(), Catch::Contains("size"));

    Checker last(message_bytes, {0, 1, 3});
    auto changed = message_of(0);
    changed.back() = 'x';
    last.take(changed.data(), changed.size());
    CHECK_THROWS_WITH(last.check(), Catch::Contains("last byte"));
}

TEST_CASE("every requested topic belongs to one subscriber, and the shares add up to all messages",
          "[tools][workload]") {
    Workload work;
    work.receivers = 8;
    work.topics = 1'000;
    CHECK(topic_of(work, 0) == 0);
    CHECK(topic_of(work, 7) == 875);
    CHECK(share_of(work, 7).first == 875);
    CHECK(share_of(work, 7).stride == 1'000);
    CHECK(topic_name(work, 875).size() == topic_name(work, 0).size());
    work.topics = 1;
    CHECK(topic_of(work, 7) == 0);
    CHECK(topic_name(work, 0).empty());
}

namespace {

std::vector<std::string> order;

template <char name, int messages_per_second>
Outcome run_fake(const Workload& work) {
    order.emplace_back(1, name);
    return {static_cast<double>(work.messages) / messages_per_second, 1};
}
bool can_all(const Workload& /*work*/) {
    return true;
}
bool can_few(const Workload& work) {
    return work.messages <= 1'000;
}
Outcome run_wrong(const Workload& /*work*/) {
    throw std::runtime_error("message 7 is lost");
}

}  // namespace

TEST_CASE("a trial finds the number of messages that takes the requested time", "[tools][measure]") {
    const Engine fast{"fast", "", can_all, run_fake<'f', 5'000'000>};
    CHECK(messages_in(2, fast, {}).messages == Approx(10'000'000).margin(10));
    const Engine slow{"slow", "", can_all, run_fake<'s', 1'000>};
    CHECK(messages_in(2, slow, {}).messages == Approx(2'000).margin(2));
}

TEST_CASE("at most as many messages are sent as an engine supports", "[tools][measure]") {
    Workload work;
    work.size = 64 * 1024;
    const Engine few{"few", "", can_few, run_fake<'w', 1'000'000>};
    const Amount amount = messages_in(2, few, work);
    CHECK(amount.messages <= 1'000);
    CHECK(amount.messages >= 64);
    CHECK(amount.is_cut);
}

namespace {

void measure(Cell& cell, const MeasurePlan& plan, std::size_t runs) {
    std::ostringstream ignored;
    Steps steps(runs, {ignored});
    measure_cell(cell, plan, steps);
}

}  // namespace

TEST_CASE("a series reports that its runs were shorter than requested", "[tools][measure]") {
    Cell cell;
    cell.work.messages = 0;
    cell.work.size = 64 * 1024;
    const MeasurePlan plan{{{"few", "", can_few, run_fake<'w', 1'000'000>}, {"all", "", can_all, run_fake<'x', 1'000>}},
                           1};
    measure(cell, plan, 1);
    CHECK(cell.series[0].is_cut);
    CHECK_FALSE(cell.series[1].is_cut);
}

TEST_CASE("engines take turns within each run, and deliveries are counted", "[tools][measure]") {
    Cell cell;
    cell.work.messages = 1'000;
    cell.work.receivers = 4;
    const MeasurePlan plan{{{"a", "", can_all, run_fake<'a', 1'000>}, {"b", "x", can_all, run_fake<'b', 2'000>}}, 1};
    order.clear();
    measure(cell, plan, 2);
    CHECK(order == std::vector<std::string>{"a", "b", "a", "b"});
    REQUIRE(cell.series.size() == 2);
    CHECK(cell.series[0].rates == std::vector<double>{4'000, 4'000});
    CHECK(cell.series[1].rates == std::vector<double>{8'000, 8'000});
    CHECK(cell.series[0].cpu_ns[0] == Approx(250'000));
    CHECK(cell.series[1].variant == "x");
}

TEST_CASE("the publisher's CPU time is per message", "[tools][measure]") {
    Cell cell;
    cell.work.messages = 1'000;
    cell.work.receivers = 2;
    const auto run = [](const Workload& /*work*/) {
        return Outcome{1, 1, 0.002};
    };
    measure(cell, MeasurePlan{{{"raw", "", can_all, run}}, 1}, 1);
    CHECK(cell.series[0].publisher_cpu_ns[0] == Approx(1'000));
}

TEST_CASE("a wrong result names the engine and the cell", "[tools][measure]") {
    Cell cell;
    cell.group = "PUB/SUB tcp";
    cell.name = "64 B";
    const MeasurePlan plan{{{"a", "odd", can_all, run_wrong}}, 1};
    CHECK_THROWS_WITH(measure(cell, plan, 1), "a (odd), PUB/SUB tcp, 64 B: message 7 is lost");
}

namespace {

std::string item_of(std::uint64_t number) {
    std::string item(16, static_cast<char>('a' + number % 26));
    item.resize(16 + number % 85, item.front());
    return item;
}

/// Takes the items available to one reader and counts those that arrived unchanged.
void take_some(ByteRing& ring, std::size_t reader, std::uint64_t& taken) {
    (void)ring.take(reader, [&](const char* data, std::size_t bytes) {
        taken += std::string_view(data, bytes) == item_of(taken) ? 1U : 0U;
    });
}

}  // namespace

TEST_CASE("each reader of a ring gets every item unchanged, even where the ring wraps around", "[tools][ring]") {
    ByteRing ring(1, 100, 2);  // a small one
    std::array<std::uint64_t, 2> taken{};
    for (std::uint64_t put = 0; put < 10'000;) {
        if (ring.put(item_of(put))) {
            ++put;
        } else {
            take_some(ring, 0, taken[0]);
            take_some(ring, 1, taken[1]);
        }
        if (put % 3 == 0) {
            take_some(ring, 0, taken[0]);
        }
    }
    ring.publish();
    for (int round = 0; round < 10; ++round) {
        take_some(ring, 0, taken[0]);
        take_some(ring, 1, taken[1]);
    }
    CHECK(taken[0] == 10'000);
    CHECK(taken[1] == 10'000);
}

namespace {

constexpr double toil_seconds = 0.05;

/// Uses this much processor time, regardless of wall-clock time.
void toil() {
    const double begin = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID);
    while (cpu_ns_of(CLOCK_THREAD_CPUTIME_ID) - begin < toil_seconds * 1e9) {
        // It works.
    }
}

/// A queue between two threads with configurable faults.
struct FakeLink {
    enum class Fault { none, loses, refuses, dies, toils };
    struct Shared {
        Shared(const Workload& /*work*/, Fault fault_in) : fault(fault_in) {}
        const Fault fault;
        std::mutex mutex;
        std::deque<std::string> messages;
    };
    struct Sender {
        Sender(Shared& shared_in, const Workload& /*work*/) : shared(shared_in) {}
        static std::string address() { return "here"; }
        void greet(std::string_view payload) { put(payload); }
        void send(std::string_view payload) {
            if (shared.fault != Fault::loses || ++sent != 500) {
                put(payload);
            }
        }
        void put(std::string_view payload) {
            const std::lock_guard lock(shared.mutex);
            shared.messages.emplace_back(payload);
        }
        void flush() {}
        static void turn() { nap(); }
        Shared& shared;
        int sent = 0;
    };
    struct Receiver {
        Receiver(Shared& shared_in, const Workload& /*work*/, const std::string& address, std::size_t /*index*/)
            : shared(shared_in) {
            if (shared.fault == Fault::refuses || address != "here") {
                throw std::runtime_error("cannot connect");
            }
            if (shared.fault == Fault::dies) {
                std::raise(SIGKILL);
            }
        }
        bool receive(Checker& checker) {
            const std::lock_guard lock(shared.mutex);
            if (shared.messages.empty()) {
                return false;
            }
            checker.take(shared.messages.front().data(), shared.messages.front().size());
            shared.messages.pop_front();
            if (shared.fault == Fault::toils && checker.received() == 500) {
                toil();
            }
            return true;
        }
        Shared& shared;
    };
};

Workload small_work() {
    Workload work;
    work.messages = 1'000;
    return work;
}

}  // namespace

TEST_CASE("a run takes time and processor time", "[tools][harness]") {
    const Outcome outcome = run_workload<FakeLink>(small_work(), FakeLink::Fault::none);
    CHECK(outcome.seconds > 0);
    CHECK(outcome.cpu_seconds >= outcome.publisher_cpu_seconds);
}

TEST_CASE("CPU time of a receiving thread is not attributed to the publisher", "[tools][harness]") {
    const Outcome outcome = run_workload<FakeLink>(small_work(), FakeLink::Fault::toils);
    CHECK(outcome.cpu_seconds >= toil_seconds);
    CHECK(outcome.cpu_seconds - outcome.publisher_cpu_seconds >= 0.9 * toil_seconds);
    CHECK(outcome.publisher_cpu_seconds > 0);
}

TEST_CASE("a lost message fails the run", "[tools][harness]") {
    CHECK_THROWS_WITH(run_workload<FakeLink>(small_work(), FakeLink::Fault::loses), Catch::Contains("lost"));
}

TEST_CASE("a receiver that cannot connect fails the run immediately, as a thread and as a process",
          "[tools][harness]") {
    Workload work = small_work();
    work.two_processes = GENERATE(false, true);
    CHECK_THROWS_WITH(run_workload<FakeLink>(work, FakeLink::Fault::refuses), "cannot connect");
}

TEST_CASE("a receiving process that terminates fails the run immediately", "[tools][harness]") {
    Workload work = small_work();
    work.two_processes = true;
    CHECK_THROWS_WITH(run_workload<FakeLink>(work, FakeLink::Fault::dies), Catch::Contains("died"));
}
