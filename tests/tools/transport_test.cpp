#include "support/catch.hpp"
#include "transport/harness.hpp"
#include "transport_command.hpp"

#include <csignal>
#include <deque>
#include <initializer_list>
#include <mutex>

using namespace telegate;
using namespace telegate::perf;

namespace {

constexpr std::size_t message_bytes = 64;

std::vector<char> message_of(std::uint64_t number, std::size_t bytes = message_bytes) {
    std::vector<char> payload(bytes, 'p');
    stamp(payload, number);
    return payload;
}

/// The only receiver of one topic, after these messages.
Checker checker_of(std::uint64_t messages, std::size_t topics, std::initializer_list<std::uint64_t> numbers) {
    Workload work;
    work.messages = messages;
    work.topics = topics;
    Checker checker(work, 0);
    for (const std::uint64_t number : numbers) {
        const auto payload = message_of(number);
        checker.check(payload.data(), payload.size());
    }
    return checker;
}

}  // namespace

TEST_CASE("a checker is done when its messages arrived in order, after any number of greetings", "[tools][checker]") {
    const Checker one = checker_of(3, 1, {hello_number, hello_number, 0, 1, 2});
    CHECK(one.is_greeted());
    CHECK(one.is_done());
    CHECK(one.received() == 3);
    CHECK_NOTHROW(one.check());
    CHECK_NOTHROW(checker_of(26, 10, {0, 10, 20}).check());
    CHECK_FALSE(checker_of(26, 10, {0, 10}).is_done());
}

TEST_CASE("a checker detects lost, duplicate, reordered, unknown and surplus messages", "[tools][checker]") {
    for (const auto& numbers :
         {std::initializer_list<std::uint64_t>{1}, {0, 2}, {0, 0}, {0, hello_number}, {0, 1, 2, 3}, {256}}) {
        const Checker checker = checker_of(3, 1, numbers);
        CHECK(checker.is_done());
        CHECK_THROWS_AS(checker.check(), std::runtime_error);
    }
}

TEST_CASE("a checker detects a message with the wrong size or last byte", "[tools][checker]") {
    Checker size({}, 0);
    const auto longer = message_of(0, message_bytes + 1);
    size.check(longer.data(), longer.size());
    CHECK_THROWS_WITH(size.check(), Catch::Contains("size"));

    Checker last({}, 0);
    auto changed = message_of(0);
    changed.back() = 'x';
    last.check(changed.data(), changed.size());
    CHECK_THROWS_WITH(last.check(), Catch::Contains("last byte"));
}

TEST_CASE("every requested topic belongs to one subscriber", "[tools][workload]") {
    Workload work;
    work.receivers = 8;
    work.topics = 1'000;
    CHECK(topic_of(work, 0) == 0);
    CHECK(topic_of(work, 7) == 875);
    CHECK(topic_name(work, 875).size() == topic_name(work, 0).size());
    work.topics = 1;
    CHECK(topic_of(work, 7) == 0);
    CHECK(topic_name(work, 0).empty());
}

namespace {

/// An engine that sends this many messages per second, at most `most` in a run.
SocketEngine fake(double messages_per_second, std::uint64_t most) {
    return {"telegate", [most](const Workload&) { return most; },
            [=](const Workload& work) {
                return Outcome{static_cast<double>(work.messages) / messages_per_second, 1, 0.002};
            }};
}

/// Returns the figure of a run of this engine that should take two seconds.
Report measured(const SocketEngine& engine, const Workload& work) {
    Report report;
    Group group{"PUB/SUB tcp"};
    add_engine(group, {"64 B", work, 2}, engine, report);
    group.engines.at(0).run();
    return report;
}

double value_in(const Report& report, const char* table) {
    const Row* const row = report.find(std::string("PUB/SUB tcp, ") + table, "64 B: telegate");
    return row == nullptr ? -1 : row->values.at(0);
}

}  // namespace

TEST_CASE("a trial finds the number of messages that takes the requested time, up to that of the engine",
          "[tools][measure]") {
    Workload work;
    work.messages = 0;
    const char* const cpu = "CPU ns per message, all threads";
    CHECK(value_in(measured(fake(5'000'000, UINT64_MAX), work), cpu) == Approx(1e9 / 10'000'000).epsilon(0.01));
    CHECK(value_in(measured(fake(1'000, UINT64_MAX), work), cpu) == Approx(1e9 / 2'000).epsilon(0.01));
    CHECK(value_in(measured(fake(1'000'000, 30'000), work), cpu) == Approx(1e9 / 30'000));
}

TEST_CASE("deliveries to all receivers are counted", "[tools][measure]") {
    Workload work;
    work.messages = 1'000;
    work.receivers = 4;
    const Report report = measured(fake(1'000, UINT64_MAX), work);
    CHECK(value_in(report, "messages per second") == 4'000);
    CHECK(value_in(report, "CPU ns per message, all threads") == Approx(250'000));
    CHECK(value_in(report, "CPU ns per message, without the receivers") == Approx(500));
}

TEST_CASE("an engine that cannot do the work is ignored", "[tools][measure]") {
    Report report;
    Group group;
    add_engine(group, {"64 B"}, fake(1, 0), report);
    CHECK(group.engines.empty());
}

TEST_CASE("Telegate is compared with libzmq as reported, with its best variant and with raw, run by run",
          "[tools][measure]") {
    Report report;
    const auto fill = [&report](const std::string& table, const std::string& row, const std::vector<double>& values) {
        for (const double value : values) {
            report.add("g, " + table, row, value);
        }
    };
    for (const char* const unit : {"messages per second", "microseconds"}) {
        fill(unit, "64 B: telegate", {40, 20, 30});
        fill(unit, "64 B: libzmq", {2, 4, 2});
        fill(unit, "64 B: libzmq, HWM 0", {4, 5, 3});
        fill(unit, "64 B: raw", {50, 40, 40});
    }
    const auto ratios_to = [&report](const std::string& other) {
        const Row* const row = report.find("g, ratios; above 1, Telegate is better", "64 B: telegate to " + other);
        return row == nullptr ? std::vector<double>() : row->values;
    };
    add_comparisons(report, "g", "messages per second", "64 B");
    CHECK(ratios_to("libzmq") == std::vector<double>{20, 5, 15});
    CHECK(ratios_to("the best libzmq, HWM 0") == std::vector<double>{10, 4, 10});
    CHECK(ratios_to("raw") == std::vector<double>{0.8, 0.5, 0.75});
    report.tables.pop_back();
    add_comparisons(report, "g", "microseconds", "64 B");
    CHECK(ratios_to("libzmq") == std::vector<double>{0.05, 0.2, 2.0 / 30});
    CHECK(ratios_to("the best libzmq, HWM 0").empty());
}

namespace {

/// Returns the options after parsing.
Selection parsed(bool for_fanout, const std::string& arguments) {
    Selection selection(for_fanout);
    CLI::App app;
    add_options(app, selection);
    app.parse(arguments);
    return selection;
}

std::vector<std::string> cells(bool for_fanout, const std::string& arguments) {
    std::vector<std::string> names;
    for (const CellGroup& group : cells_of(parsed(for_fanout, arguments))) {
        for (const Cell& cell : group.cells) {
            names.push_back(group.title + ", " + cell.name);
        }
    }
    return names;
}

}  // namespace

TEST_CASE("lists on the command line produce the cells in their order", "[tools][selection]") {
    CHECK(cells(false, "--pattern router --transport ipc,tcp --size 64,8192") ==
          std::vector<std::string>{"ROUTER-ROUTER ipc, 64 B", "ROUTER-ROUTER ipc, 8 KiB", "ROUTER-ROUTER tcp, 64 B",
                                   "ROUTER-ROUTER tcp, 8 KiB"});
    CHECK(cells(false, "").size() == 24);
    CHECK(cells(false, "--two-processes").size() == 16);  // not over inproc
    CHECK(cells(true, "--subscribers 1,8 --topics 1,4 --transport inproc") ==
          std::vector<std::string>{"fan-out inproc, 1 subscriber", "fan-out inproc, 8 subscribers",
                                   "fan-out inproc, 4 topics, 1 subscriber"});
    CHECK(cells(true, "").size() == 10);
    CHECK(cells(false, "--curve") == std::vector<std::string>{"PUB/SUB tcp, CURVE, 64 B", "PUB/SUB tcp, CURVE, 8 KiB",
                                                              "ROUTER-ROUTER tcp, CURVE, 64 B",
                                                              "ROUTER-ROUTER tcp, CURVE, 8 KiB"});
    CHECK(cells(false, "--curve --size 100 --transport ipc --pattern pubsub") ==
          std::vector<std::string>{"PUB/SUB ipc, CURVE, 100 B"});
}

TEST_CASE("the original message counts belong to the four original sizes", "[tools][selection]") {
    const auto groups = cells_of(parsed(false, "--messages original --pattern pubsub --transport tcp"));
    REQUIRE(groups.at(0).cells.size() == 4);
    CHECK(groups[0].cells[0].work.messages == 100'000);
    CHECK(groups[0].cells[3].work.messages == 1'000);
    CHECK_THROWS_AS(cells(false, "--messages original --size 65"), std::runtime_error);
}

TEST_CASE("unknown choices are rejected", "[tools][selection]") {
    const std::string arguments = GENERATE("--pattern pubsub,push", "--transport udp", "--size 15", "--size 64,x",
                                           "--engine zmq", "--variants best", "--messages 0", "--messages some",
                                           "--seconds 0", "--seconds 1 --messages 2", "--io-threads 1");
    CAPTURE(arguments);
    CHECK_THROWS_AS(parsed(false, arguments), CLI::ParseError);
}

TEST_CASE("each number of I/O threads is an engine of its own", "[tools][selection]") {
    const auto engines = engines_of(parsed(true, "--io-threads 1,2 --engine telegate,raw"));
    REQUIRE(engines.size() == 3);
    CHECK(engines[0].name == "telegate, 1 I/O thread");
    CHECK(engines[1].name == "telegate, 2 I/O threads");
    CHECK(engines[2].name == "raw");
}

TEST_CASE("every engine delivers all messages of every workload that it can do", "[tools][engine]") {
    Workload work;
    work.messages = 1'000;
    work.transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    work.pattern = GENERATE(Pattern::pubsub, Pattern::router);
    work.curve = GENERATE(false, true);
    work.two_processes = GENERATE(false, true);
    if (!is_possible(work)) {
        return;
    }
    for (const SocketEngine& engine : engines_of(parsed(true, "--variants all --io-threads 1,2"))) {
        CAPTURE(engine.name, work.curve, work.two_processes);
        CHECK((engine.messages_max(work) == 0 || engine.run(work).seconds > 0));
    }
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
        explicit Shared(Fault fault_in) : fault(fault_in) {}
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
            checker.check(shared.messages.front().data(), shared.messages.front().size());
            shared.messages.pop_front();
            if (shared.fault == Fault::toils && checker.received() == 500) {
                toil();
            }
            return true;
        }
        Shared& shared;
    };
};

Outcome run_fake(const Workload& work, FakeLink::Fault fault) {
    return run_workload<FakeLink::Sender, FakeLink::Receiver>(work, [fault] { return FakeLink::Shared(fault); });
}

Workload small_work() {
    Workload work;
    work.messages = 1'000;
    return work;
}

}  // namespace

TEST_CASE("a run takes time and processor time", "[tools][harness]") {
    const Outcome outcome = run_fake(small_work(), FakeLink::Fault::none);
    CHECK(outcome.seconds > 0);
    CHECK(outcome.cpu_seconds >= outcome.publisher_cpu_seconds);
}

TEST_CASE("CPU time of a receiving thread is not attributed to the publisher", "[tools][harness]") {
    const Outcome outcome = run_fake(small_work(), FakeLink::Fault::toils);
    CHECK(outcome.cpu_seconds >= toil_seconds);
    CHECK(outcome.cpu_seconds - outcome.publisher_cpu_seconds >= 0.9 * toil_seconds);
    CHECK(outcome.publisher_cpu_seconds > 0);
}

TEST_CASE("a lost message fails the run", "[tools][harness]") {
    CHECK_THROWS_WITH(run_fake(small_work(), FakeLink::Fault::loses), Catch::Contains("lost"));
}

TEST_CASE("a receiver that cannot connect fails the run immediately, as a thread and as a process",
          "[tools][harness]") {
    Workload work = small_work();
    work.two_processes = GENERATE(false, true);
    CHECK_THROWS_WITH(run_fake(work, FakeLink::Fault::refuses), "cannot connect");
}

TEST_CASE("a receiving process that terminates fails the run immediately", "[tools][harness]") {
    Workload work = small_work();
    work.two_processes = true;
    CHECK_THROWS_WITH(run_fake(work, FakeLink::Fault::dies), Catch::Contains("died"));
}
