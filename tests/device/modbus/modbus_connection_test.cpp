#include "modbus_bench.hpp"
#include "modbus_units.hpp"
#include "support/catch.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>

using namespace telegate;
using namespace telegate::test;

namespace {

using Status = ReadResult::Status;

std::vector<ModbusChannel> two_units() {
    return {{.name = "a", .unit_id = 1}, {.name = "b", .unit_id = 2}};
}

/// Responds to every request with the same bytes.
class Parrot {
  public:
    explicit Parrot(std::string words) : words_(std::move(words)) {
        const auto answer = [this](int connection) {
            std::array<char, 300> request{};
            return ::recv(connection, request.data(), request.size(), 0) > 0 &&
                   ::send(connection, words_.data(), words_.size(), MSG_NOSIGNAL) > 0;
        };
        thread_.accept_on(
            listener_.descriptor(), [](int) { return true; }, answer);
    }
    ~Parrot() { thread_.stop(); }

    [[nodiscard]] std::string endpoint() const { return listener_.endpoint(); }

  private:
    const std::string words_;
    Listener listener_;
    PeerThread thread_;
};

}  // namespace

TEST_CASE("a refused connection fails the read, and the next read tries again", "[device][modbus]") {
    const Listener deaf(0);
    const std::string endpoint = deaf.endpoint();
    DriverBench bench = bench_for(options_for(endpoint, two_units()));
    for (int i = 0; i < 2; ++i) {
        CHECK(bench.read().status == Status::failed);
        CHECK(bench.what == endpoint + ": Connection refused");
        CHECK(bench.sample_of("a").quality == Quality::bad);
        CHECK_FALSE(bench.sample_of("unit.1.ok").value.boolean);
    }
}

TEST_CASE("a connection that was closed between two reads loses no sample", "[device][modbus]") {
    TcpUnits units;
    DriverBench bench = bench_for(options_for(units.endpoint(), two_units()));
    CHECK(bench.reads_ok());
    units.hang_up();
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("a").quality == Quality::good);
    CHECK(bench.sample_of("b").quality == Quality::good);
    CHECK(bench.what.empty());
    CHECK(units.connections() == 2);
}

TEST_CASE("when a peer closes the connection for one unit, the other units are still requested", "[device][modbus]") {
    TcpUnits units;
    units.hang_up_at(1);
    DriverBench bench = bench_for(options_for(units.endpoint(), two_units()));
    REQUIRE(bench.reads_ok());
    CHECK(bench.what == "unit 1: holding 0: connection closed by the peer");
    CHECK(bench.sample_of("a").quality == Quality::bad);
    CHECK(bench.sample_of("b").quality == Quality::good);
}

TEST_CASE("the number of connections per read is limited if a peer closes them for every request", "[device][modbus]") {
    TcpUnits units;
    auto channels = two_units();
    for (int unit = 1; unit <= 20; ++unit) {
        units.hang_up_at(unit);
        if (unit > 2) {
            channels.push_back({.name = "u" + std::to_string(unit), .unit_id = unit});
        }
    }
    DriverBench bench = bench_for(options_for(units.endpoint(), channels));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what == "unit 1: holding 0: connection closed by the peer");
    CHECK(units.connections() == 3);
}

TEST_CASE("a peer that does not speak Modbus fails the read", "[device][modbus]") {
    const Parrot web("HTTP/1.1 400 Bad Request\r\n\r\n");
    DriverBench bench = bench_for(options_for(web.endpoint(), {{.name = "a"}}));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what == "unit 1: holding 0: the peer does not speak Modbus");
}

TEST_CASE("a response that is shorter than requested gives no value", "[device][modbus]") {
    // Each read makes a new connection, and the transaction number continues: the first response matches, the second
    // does not.
    const Parrot parrot(std::string("\0\1\0\0\0\5\1\3\2\0\7", 11));
    DriverBench bench = bench_for(
        options_for(parrot.endpoint(), {{.name = "a", .type = ModbusType::int32}}, std::chrono::milliseconds(2'000)));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what == "unit 1: holding 0-1: invalid response");
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what == "unit 1: holding 0-1: no response within 2000 ms");
}

TEST_CASE("a flood of unrelated responses does not extend a read beyond its timeout", "[device][modbus]") {
    Listener listener;
    std::atomic<bool> stops{false};
    const auto flood = [&](int connection) {
        const std::string frame("\xFF\xFF\0\0\0\5\1\3\2\0\7", 11);
        while (!stops && ::send(connection, frame.data(), frame.size(), MSG_NOSIGNAL) > 0) {
        }
        return false;
    };
    PeerThread thread;  // ends before `stops`, which it uses
    thread.accept_on(
        listener.descriptor(), [](int) { return true; }, flood);
    DriverBench bench = bench_for(options_for(listener.endpoint(), {{.name = "a"}}, impatience));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what == "unit 1: holding 0: no response within 50 ms");
    stops = true;
}
