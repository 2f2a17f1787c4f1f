#include "modbus_bench.hpp"
#include "modbus_units.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <thread>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

using Status = ReadResult::Status;

/// Returns one channel "uN" for each of `units` units, from 1.
std::vector<ModbusChannel> units_from_1_to(int last) {
    std::vector<ModbusChannel> channels;
    for (int unit = 1; unit <= last; ++unit) {
        channels.push_back({.name = "u" + std::to_string(unit), .unit_id = unit});
    }
    return channels;
}

Status read_at(DriverBench& bench, MonoTime now) {
    bench.batch().begin(1, 1);
    const Status status = bench.driver().read(bench.batch(), now).status;
    bench.batch().flush();
    return status;
}

bool was_requested(const std::vector<ReceivedRequest>& requests, int unit) {
    return std::any_of(requests.begin(), requests.end(),
                       [&](const ReceivedRequest& each) { return each.unit == unit; });
}

}  // namespace

TEST_CASE("a unit that does not respond is bad, and the others are good", "[device][modbus]") {
    TcpUnits units;
    units.silence(2);
    auto options = options_for(units.endpoint(), units_from_1_to(3), some_patience);
    options.channels.push_back({.name = "more", .unit_id = 2, .address = 100});
    DriverBench bench = bench_for(options);
    REQUIRE(bench.reads_ok());
    CHECK(bench.what == "unit 2: holding 0: no response within 500 ms");
    CHECK(bench.sample_of("u1").quality == Quality::good);
    CHECK(bench.sample_of("u2").quality == Quality::bad);
    CHECK(bench.sample_of("more").quality == Quality::bad);
    CHECK(bench.sample_of("u3").quality == Quality::good);
    CHECK(bench.sample_of("unit.1.ok").value.boolean);
    CHECK_FALSE(bench.sample_of("unit.2.ok").value.boolean);
    CHECK(bench.sample_of("unit.3.ok").value.boolean);
    CHECK(units.take_requests() == std::vector<ReceivedRequest>{{1, 3, 0, 1}, {2, 3, 0, 1}, {3, 3, 0, 1}});
}

TEST_CASE("a single unit has no ok channel", "[device][modbus]") {
    TcpUnits units;
    DriverBench bench = bench_for(options_for(units.endpoint(), units_from_1_to(1)));
    REQUIRE(bench.reads_ok());
    CHECK(bench.samples().size() == 1);
}

TEST_CASE("a unit that has not responded three times in a row is not requested for a while", "[device][modbus]") {
    TcpUnits units;
    units.silence(2);
    DriverBench bench = bench_for(options_for(units.endpoint(), units_from_1_to(2), some_patience));
    const MonoTime now = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i) {
        CHECK(read_at(bench, now) == Status::ok);
        CHECK(was_requested(units.take_requests(), 2));
    }
    CHECK(read_at(bench, now + 500ms) == Status::ok);
    CHECK_FALSE(was_requested(units.take_requests(), 2));
    CHECK(read_at(bench, now + 1300ms) == Status::ok);
    CHECK(was_requested(units.take_requests(), 2));
    CHECK(read_at(bench, now + 2300ms) == Status::ok);
    CHECK_FALSE(was_requested(units.take_requests(), 2));

    units.heal(2);
    CHECK(read_at(bench, now + 3900ms) == Status::ok);
    CHECK(was_requested(units.take_requests(), 2));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("u2").quality == Quality::good);
}

TEST_CASE("a read waits for at most one silent unit, each in turn", "[device][modbus]") {
    TcpUnits units;
    units.silence(2);
    units.silence(3);
    DriverBench bench = bench_for(options_for(units.endpoint(), units_from_1_to(3), some_patience));
    CHECK(bench.reads_ok());
    units.take_requests();
    CHECK(bench.reads_ok());
    CHECK(units.take_requests() == std::vector<ReceivedRequest>{{1, 3, 0, 1}, {2, 3, 0, 1}});
    CHECK(bench.reads_ok());
    CHECK(units.take_requests() == std::vector<ReceivedRequest>{{1, 3, 0, 1}, {3, 3, 0, 1}});
}

TEST_CASE("if all units are silent, every read requests one", "[device][modbus]") {
    TcpUnits units;
    units.silence(1);
    units.silence(2);
    DriverBench bench = bench_for(options_for(units.endpoint(), units_from_1_to(2), some_patience));
    for (int i = 0; i < 5; ++i) {
        CHECK(bench.read().status == Status::failed);
        CHECK(bench.what.find("no response within 500 ms") != std::string::npos);
        CHECK_FALSE(units.take_requests().empty());
    }
    units.heal(1);
    CHECK(bench.reads_ok());
}

TEST_CASE("a connection without any response is opened again", "[device][modbus]") {
    TcpUnits units;
    units.silence(1);
    DriverBench bench = bench_for(options_for(units.endpoint(), units_from_1_to(1), impatience));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.read().status == Status::failed);
    CHECK(units.connections() == 2);
}

TEST_CASE("an unresponsive peer with many units does not block a read for long", "[device][modbus]") {
    const Listener hung;  // the listen backlog accepts connections that are never served
    DriverBench bench = bench_for(options_for(hung.endpoint(), units_from_1_to(100), 500ms));
    const auto begin = std::chrono::steady_clock::now();
    CHECK(bench.read().status == Status::failed);
    CHECK(std::chrono::steady_clock::now() - begin < 30s);  // of 50 s
    CHECK(bench.what == "unit 1: holding 0: no response within 500 ms");
}

TEST_CASE("a gateway exception about its unit counts as no response of the unit", "[device][modbus]") {
    TcpUnits units;
    units.refuse(2, MODBUS_EXCEPTION_GATEWAY_TARGET);
    DriverBench bench = bench_for(options_for(units.endpoint(), units_from_1_to(2)));
    const MonoTime now = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i) {
        CHECK(read_at(bench, now) == Status::ok);
    }
    CHECK(was_requested(units.take_requests(), 2));
    CHECK(read_at(bench, now) == Status::ok);
    CHECK_FALSE(was_requested(units.take_requests(), 2));
}

TEST_CASE("a late response is not taken for the next one", "[device][modbus]") {
    TcpUnits units;
    units.set_holding(0, {11});
    units.set_holding(100, {22});
    units.answer_late(1);
    auto channels = units_from_1_to(2);
    channels[1].address = 100;
    DriverBench bench = bench_for(options_for(units.endpoint(), channels, some_patience));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("u1").quality == Quality::bad);
    CHECK(whole(bench.sample_of("u2")) == 22);
    units.heal(1);
    REQUIRE(bench.reads_ok());
    CHECK(whole(bench.sample_of("u1")) == 11);
    CHECK(whole(bench.sample_of("u2")) == 22);
    CHECK(units.connections() == 1);
}

TEST_CASE("the cancel signal ends the wait for a response", "[device][modbus]") {
    TcpUnits units;
    units.silence(1);
    DriverBench bench = bench_for(options_for(units.endpoint(), units_from_1_to(1), 10s));
    std::thread canceller([&] {
        static_cast<void>(eventually([&] { return !units.take_requests().empty(); }));
        bench.cancel.set();
    });
    const auto begin = std::chrono::steady_clock::now();
    CHECK(bench.read().status == Status::interrupted);
    CHECK(std::chrono::steady_clock::now() - begin < 9s);
    CHECK(bench.samples().empty());
    canceller.join();
}

TEST_CASE("a canceled read does not count against the unit", "[device][modbus]") {
    TcpUnits units;
    units.set_holding(0, {5});
    DriverBench bench = bench_for(options_for(units.endpoint(), units_from_1_to(2)));
    bench.cancel.set();
    CHECK(bench.read().status == Status::interrupted);
    bench.cancel.clear();
    REQUIRE(bench.reads_ok());
    CHECK(whole(bench.sample_of("u1")) == 5);
    CHECK(whole(bench.sample_of("u2")) == 5);
}
