#include "device/allocation_counter.hpp"
#include "modbus_bench.hpp"
#include "modbus_units.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

using Status = ReadResult::Status;

std::vector<ModbusChannel> one_of_each() {
    return {
        {.name = "level", .unit = "mm", .address = 10, .type = ModbusType::int16},
        {.name = "energy", .address = 11, .type = ModbusType::uint32},
        {.name = "power", .address = 13, .type = ModbusType::float32, .low_word_first = true},
        {.name = "alarm", .address = 15, .bit = 3},
        {.name = "rpm", .table = ModbusTable::input, .address = 4},
        {.name = "pump", .table = ModbusTable::coil, .address = 9},
        {.name = "door", .table = ModbusTable::discrete, .address = 0},
    };
}

void fill(ModbusUnits& units) {
    units.set_holding(10, {0xFFFF, 1, 2, 0, 0x4148, 8});
    units.set_input(4, 1'500);
    units.set_coil(9, true);
}

}  // namespace

TEST_CASE("every table and type of a unit is read", "[device][modbus]") {
    TcpUnits units;
    fill(units);
    DriverBench bench = bench_for(options_for(units.endpoint(), one_of_each()));
    REQUIRE(bench.reads_ok());
    CHECK(bench.what.empty());
    CHECK(whole(bench.sample_of("level")) == -1);
    CHECK(whole(bench.sample_of("energy")) == 65'538);
    CHECK(bench.sample_of("power").value.real == 12.5);
    CHECK(bench.sample_of("alarm").value.boolean);
    CHECK(whole(bench.sample_of("rpm")) == 1'500);
    CHECK(bench.sample_of("pump").value.boolean);
    CHECK_FALSE(bench.sample_of("door").value.boolean);
    CHECK(bench.samples().size() == 7);
    CHECK(bench.channels().at(bench.sample_of("level").channel).unit == "mm");
}

TEST_CASE("one request serves all adjacent channels of a table", "[device][modbus]") {
    TcpUnits units;
    DriverBench bench = bench_for(options_for(units.endpoint(), one_of_each()));
    CHECK(bench.reads_ok());
    CHECK(units.take_requests() ==
          std::vector<ReceivedRequest>{{1, 1, 9, 1}, {1, 2, 0, 1}, {1, 3, 10, 6}, {1, 4, 4, 1}});
    CHECK(units.connections() == 1);
}

TEST_CASE("nothing is opened before the first read, and all reads share one connection", "[device][modbus]") {
    TcpUnits units;
    DriverBench bench = bench_for(options_for(units.endpoint(), one_of_each()));
    CHECK(units.connections() == 0);
    for (int i = 0; i < 5; ++i) {
        CHECK(bench.reads_ok());
    }
    CHECK(units.connections() == 1);
}

TEST_CASE("a host can be given by name", "[device][modbus]") {
    TcpUnits units;
    DriverBench bench = bench_for(options_for("tcp://localhost:" + std::to_string(units.port()), one_of_each()));
    CHECK(bench.reads_ok());
    CHECK(bench.reads_ok());
}

TEST_CASE("an unknown host fails the read", "[device][modbus]") {
    DriverBench bench = bench_for(options_for("tcp://nobody.invalid", one_of_each(), impatience));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what.starts_with("tcp://nobody.invalid: "));
    CHECK(bench.read().status == Status::failed);
}

TEST_CASE("values that cannot be represented exactly have quality uncertain or bad", "[device][modbus]") {
    TcpUnits units;
    units.set_holding(0, {0x8000, 0, 0, 0, 0x7FC0, 0});
    DriverBench bench =
        bench_for(options_for(units.endpoint(), {{.name = "big", .type = ModbusType::uint64},
                                                 {.name = "nan", .address = 4, .type = ModbusType::float32}}));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("big").quality == Quality::uncertain);
    CHECK(bench.sample_of("big").value.real == 0x1p63);
    CHECK(bench.sample_of("nan").quality == Quality::bad);
}

TEST_CASE("an exception of one register gives quality bad for its channel only", "[device][modbus]") {
    const auto [exception, words] = GENERATE(table<int, std::string>({{1, "illegal function (exception 1)"},
                                                                      {2, "illegal data address (exception 2)"},
                                                                      {3, "illegal data value (exception 3)"},
                                                                      {4, "device failure (exception 4)"}}));
    TcpUnits units;
    units.set_holding(0, {1, 2, 3});
    units.refuse_holding(1, exception);
    DriverBench bench = bench_for(
        options_for(units.endpoint(), {{.name = "a"}, {.name = "b", .address = 1}, {.name = "c", .address = 2}}));
    REQUIRE(bench.reads_ok());
    CHECK(bench.what == "unit 1: holding 1: " + words);
    CHECK(whole(bench.sample_of("a")) == 1);
    CHECK(bench.sample_of("b").quality == Quality::bad);
    CHECK(whole(bench.sample_of("c")) == 3);
    CHECK(whole(bench.sample_of("unit.1.exception")) == exception);
    CHECK(units.take_requests() ==
          std::vector<ReceivedRequest>{{1, 3, 0, 3}, {1, 3, 0, 1}, {1, 3, 1, 2}, {1, 3, 1, 1}, {1, 3, 2, 1}});

    REQUIRE(bench.reads_ok());
    CHECK(units.take_requests() == std::vector<ReceivedRequest>{{1, 3, 0, 1}, {1, 3, 1, 1}, {1, 3, 2, 1}});
    bench.driver().reset();
    REQUIRE(bench.reads_ok());
    CHECK(units.take_requests().front() == ReceivedRequest{1, 3, 0, 3});
}

TEST_CASE("a split request is tried again after a minute, and then less and less often", "[device][modbus]") {
    const ReceivedRequest whole_request{1, 3, 0, 3};
    TcpUnits units;
    units.set_holding(0, {1, 2, 3});
    units.refuse_holding(1);
    DriverBench bench = bench_for(
        options_for(units.endpoint(), {{.name = "a"}, {.name = "b", .address = 1}, {.name = "c", .address = 2}}));
    const MonoTime start = std::chrono::steady_clock::now();
    const auto requests_all = [&](std::chrono::seconds later) {
        CHECK(bench.read_at(start + later).status == ReadResult::Status::ok);
        return units.take_requests().front() == whole_request;
    };
    CHECK(requests_all(0s));
    CHECK_FALSE(requests_all(59s));
    CHECK(requests_all(60s));
    CHECK_FALSE(requests_all(179s));
    CHECK(requests_all(180s));
    CHECK_FALSE(requests_all(419s));
    units.accept_holding(1);
    CHECK(requests_all(420s));
    CHECK(bench.what.empty());
    CHECK(bench.sample_of("b").quality == Quality::good);
    CHECK(requests_all(421s));
}

TEST_CASE("the number of rejected requests is reported", "[device][modbus]") {
    TcpUnits units;
    units.set_holding(0, {1, 2, 3});
    units.refuse_holding(0);
    units.refuse_holding(2);
    DriverBench bench = bench_for(
        options_for(units.endpoint(), {{.name = "a"}, {.name = "b", .address = 1}, {.name = "c", .address = 2}}));
    REQUIRE(bench.reads_ok());
    CHECK(bench.what == "unit 1: holding 0: illegal data address (exception 2); 2 requests rejected");
    CHECK(whole(bench.sample_of("b")) == 2);
}

TEST_CASE("an illegal register in a gap does no harm", "[device][modbus]") {
    TcpUnits units;
    units.set_holding(0, {1, 0, 3});
    units.refuse_holding(1);
    DriverBench bench = bench_for(options_for(units.endpoint(), {{.name = "a"}, {.name = "c", .address = 2}}));
    REQUIRE(bench.reads_ok());
    CHECK(bench.what.empty());
    CHECK(whole(bench.sample_of("a")) == 1);
    CHECK(whole(bench.sample_of("c")) == 3);
}

TEST_CASE("a read with only exceptions fails", "[device][modbus]") {
    TcpUnits units;
    units.refuse(1, MODBUS_EXCEPTION_SLAVE_OR_SERVER_BUSY);
    DriverBench bench =
        bench_for(options_for(units.endpoint(), {{.name = "a", .address = 7, .type = ModbusType::int32}}));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what == "unit 1: holding 7-8: device busy (exception 6)");
    CHECK(whole(bench.sample_of("unit.1.exception")) == MODBUS_EXCEPTION_SLAVE_OR_SERVER_BUSY);
    units.heal(1);
    CHECK(bench.reads_ok());
    CHECK(whole(bench.sample_of("unit.1.exception")) == 0);
}

TEST_CASE("a unit in failure is requested with few requests", "[device][modbus]") {
    const auto exception = GENERATE(1, 4);
    TcpUnits units;
    units.refuse(1, exception);
    std::vector<ModbusChannel> channels;
    for (std::uint16_t address = 0; address < 100; ++address) {
        channels.push_back({.name = "c" + std::to_string(address), .address = address});
    }
    DriverBench bench = bench_for(options_for(units.endpoint(), std::move(channels)));
    const MonoTime start = std::chrono::steady_clock::now();
    const auto requests_at = [&](std::chrono::seconds later) {
        CHECK(bench.read_at(start + later).status == ReadResult::Status::failed);
        return units.take_requests().size();
    };
    CHECK(requests_at(0s) < 40);
    CHECK(requests_at(1s) == 1);
    CHECK(requests_at(59s) == 1);
    CHECK(requests_at(60s) > 1);
    CHECK(requests_at(179s) == 1);
    units.heal(1);
    CHECK(bench.read_at(start + 179s).status == ReadResult::Status::ok);
    CHECK(units.take_requests().size() == 1);
    CHECK(bench.sample_of("c99").quality == Quality::good);
}

TEST_CASE("a unit without exceptions has no exception channel", "[device][modbus]") {
    TcpUnits units;
    DriverBench bench = bench_for(options_for(units.endpoint(), {{.name = "a"}}));
    REQUIRE(bench.reads_ok());
    CHECK(bench.samples().size() == 1);
}

TEST_CASE("reading responsive units allocates nothing", "[device][modbus]") {
    TcpUnits units;
    DriverBench bench = bench_for(options_for(units.endpoint(), one_of_each()));
    const auto read = [&] {
        bench.batch().begin(1, 1);
        const MonoTime now = std::chrono::steady_clock::now();
        return bench.driver().read(bench.batch(), now).status;
    };
    REQUIRE(read() == Status::ok);
    bench.batch().flush();
    const std::uint64_t before = allocations();
    for (int i = 0; i < 20; ++i) {
        CHECK(read() == Status::ok);
    }
    const std::uint64_t after = allocations();
    CHECK(after == before);
}

TEST_CASE("invalid options are refused before anything is opened", "[device][modbus]") {
    CHECK_THROWS_AS(bench_for(options_for("tcp://", {{.name = "a"}})), std::invalid_argument);
    CHECK_THROWS_AS(bench_for(options_for("tcp://127.0.0.1", {})), std::invalid_argument);
}
