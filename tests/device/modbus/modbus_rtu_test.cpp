#include "modbus_bench.hpp"
#include "modbus_units.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <poll.h>

#include <filesystem>
#include <optional>
#include <span>
#include <thread>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

using Status = ReadResult::Status;

/// Response of a unit with this number in the requested register.
FrameBytes answer_of(int unit, std::uint8_t number) {
    return with_crc({static_cast<std::uint8_t>(unit), 3, 2, 0, number});
}

/// The other end of a serial line, where the test defines the response to each request.
class ScriptedLine {
  public:
    using Script = std::function<FrameBytes(std::span<const std::uint8_t> request)>;

    explicit ScriptedLine(Script script) : script_(std::move(script)) {
        thread_.serve_line(pty_.master(), [this](int line) {
            std::array<std::uint8_t, 256> bytes{};
            const ssize_t got = ::read(line, bytes.data(), bytes.size());
            if (got <= 0) {
                return false;
            }
            send(script_(std::span(bytes).first(static_cast<std::size_t>(got))));
            return true;
        });
    }
    ~ScriptedLine() { thread_.stop(); }

    void send(const FrameBytes& bytes) const {
        // Short enough to be written at once. Runs on both threads, so it checks nothing.
        [[maybe_unused]] const ssize_t written = ::write(pty_.master(), bytes.data(), bytes.size());
    }
    [[nodiscard]] std::string endpoint() const { return "rtu://" + pty_.path(); }

  private:
    const Script script_;
    Pty pty_{0};
    PeerThread thread_;
};

/// A stable name for a line that is plugged in and out.
class Socketed {
  public:
    void plug(const std::string& path) const { std::filesystem::create_symlink(path, name()); }
    void unplug() const { std::filesystem::remove(name()); }
    [[nodiscard]] std::string name() const { return directory_.path("usb-meter"); }
    [[nodiscard]] std::string endpoint() const { return "rtu://" + name(); }

  private:
    ScratchDir directory_;
};

}  // namespace

TEST_CASE("a unit on a serial line is read", "[device][modbus]") {
    RtuUnit unit(17);
    unit.set_holding(10, {0xFFFF, 0x4148, 0});
    unit.set_coil(3, true);
    auto options = options_for("rtu://" + unit.path(), {{.name = "a", .address = 10, .type = ModbusType::int16},
                                                        {.name = "b", .address = 11, .type = ModbusType::float32},
                                                        {.name = "c", .table = ModbusTable::coil, .address = 3}});
    options.unit_id = 17;
    options.baud = 115'200;
    options.parity = ModbusParity::even;
    DriverBench bench = bench_for(options);
    for (int i = 0; i < 3; ++i) {
        REQUIRE(bench.reads_ok());
        CHECK(whole(bench.sample_of("a")) == -1);
        CHECK(bench.sample_of("b").value.real == 12.5);
        CHECK(bench.sample_of("c").value.boolean);
    }
    CHECK(unit.take_requests().size() == 6);
}

TEST_CASE("an exception on a serial line gives quality bad and the exception code", "[device][modbus]") {
    RtuUnit unit(1);
    DriverBench bench =
        bench_for(options_for("rtu://" + unit.path(), {{.name = "a"}, {.name = "b", .address = 5'000}}));
    REQUIRE(bench.reads_ok());
    CHECK(bench.what == "unit 1: holding 5000: illegal data address (exception 2)");
    CHECK(bench.sample_of("b").quality == Quality::bad);
}

TEST_CASE("a serial line that is unplugged and plugged in again is read again", "[device][modbus]") {
    const Socketed socket;
    DriverBench bench = bench_for(options_for(socket.endpoint(), {{.name = "a"}}));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what == socket.endpoint() + ": No such file or directory");
    for (std::uint16_t round = 1; round <= 3; ++round) {
        std::optional<RtuUnit> unit(1);
        unit->set_holding(0, {round});
        socket.plug(unit->path());
        REQUIRE(bench.reads_ok());
        CHECK(whole(bench.sample_of("a")) == round);
        unit.reset();
        socket.unplug();
        CHECK(bench.read().status == Status::failed);
        CHECK(bench.what == socket.endpoint() + ": No such file or directory");
    }
}

TEST_CASE("a device that is not a tty fails the read", "[device][modbus]") {
    DriverBench bench = bench_for(options_for("rtu:///dev/null", {{.name = "a"}}));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what == "rtu:///dev/null: Inappropriate ioctl for device");
}

TEST_CASE("a unit that does not respond on a serial line does not affect the others", "[device][modbus]") {
    const ScriptedLine line(
        [](auto request) { return request[0] == 2 ? FrameBytes{} : answer_of(request[0], request[0]); });
    DriverBench bench = bench_for(options_for(
        line.endpoint(), {{.name = "a", .unit_id = 1}, {.name = "b", .unit_id = 2}, {.name = "c", .unit_id = 3}},
        some_patience));
    REQUIRE(bench.reads_ok());
    CHECK(bench.what == "unit 2: holding 0: no response within 500 ms");
    CHECK(whole(bench.sample_of("a")) == 1);
    CHECK(bench.sample_of("b").quality == Quality::bad);
    CHECK(whole(bench.sample_of("c")) == 3);
}

TEST_CASE("noise, an echo and responses of other units are skipped", "[device][modbus]") {
    const ScriptedLine line([](auto request) {
        FrameBytes all{0, 0xFF, 1};
        for (const FrameBytes& part : {FrameBytes(request.begin(), request.end()), answer_of(9, 99), answer_of(1, 7)}) {
            all.insert(all.end(), part.begin(), part.end());
        }
        return all;
    });
    DriverBench bench = bench_for(options_for(line.endpoint(), {{.name = "a"}}));
    REQUIRE(bench.reads_ok());
    CHECK(whole(bench.sample_of("a")) == 7);
}

TEST_CASE("noise that is longer than a response does not hide the response", "[device][modbus]") {
    const ScriptedLine line([](auto) {
        FrameBytes all(1'000, 1);
        const FrameBytes answer = answer_of(1, 7);
        all.insert(all.end(), answer.begin(), answer.end());
        return all;
    });
    DriverBench bench = bench_for(options_for(line.endpoint(), {{.name = "a"}}));
    REQUIRE(bench.reads_ok());
    CHECK(whole(bench.sample_of("a")) == 7);
}

TEST_CASE("a corrupt response is reported differently from no response", "[device][modbus]") {
    const ScriptedLine line([](auto) { return FrameBytes{1, 3, 2, 0, 7, 0, 0}; });
    DriverBench bench = bench_for(options_for(line.endpoint(), {{.name = "a"}}, 500ms));
    CHECK(bench.read().status == Status::failed);
    CHECK(bench.what ==
          "unit 1: holding 0: no valid response within 500 ms; received 7 bytes with a wrong "
          "checksum, unit or length");
}

TEST_CASE("a late response on a serial line is not taken for the next one", "[device][modbus]") {
    std::atomic<int> requests{0};
    const ScriptedLine line([&](auto) { return ++requests == 1 ? FrameBytes{} : answer_of(1, 22); });
    DriverBench bench = bench_for(options_for(line.endpoint(), {{.name = "a"}}, 500ms));
    CHECK(bench.read().status == Status::failed);
    line.send(answer_of(1, 11));
    REQUIRE(bench.reads_ok());
    CHECK(whole(bench.sample_of("a")) == 22);
}

TEST_CASE("a cancel signal is handled while a serial line is stopped", "[device][modbus]") {
    const Pty stopped(0);
    DriverBench bench = bench_for(options_for("rtu://" + stopped.path(), {{.name = "a"}}, 10s));
    std::thread canceller([&] {
        pollfd request{stopped.master(), POLLIN, 0};
        while (::poll(&request, 1, 1) <= 0 || (request.revents & POLLIN) == 0) {
        }
        bench.cancel.set();
    });
    const auto begin = std::chrono::steady_clock::now();
    CHECK(bench.read().status == Status::interrupted);
    CHECK(std::chrono::steady_clock::now() - begin < 9s);
    canceller.join();
}
