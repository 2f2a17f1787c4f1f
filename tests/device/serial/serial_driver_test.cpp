#include "device/allocation_counter.hpp"
#include "serial_fixture.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace telegate {
namespace {

using namespace std::chrono_literals;
using test::Pty;
using test::serial_options;
using test::SerialFixture;
using Status = ReadResult::Status;

TEST_CASE("a serial device has its own thread and sends at any time", "[device][serial]") {
    SerialFixture f(serial_options("/dev/nothing"));
    CHECK(f.bench.driver().traits().own_thread);
    CHECK(f.bench.driver().traits().streams);
}

TEST_CASE("each kind of line becomes samples", "[device][serial]") {
    auto [format, bytes, told] = GENERATE(table<LineFormat, std::string, std::string>({
        {LineFormat{}, "temp=21.5 state=on\n", "temp=21.5 state=true"},
        {LineFormat{.kind = LineFormat::Kind::csv, .columns = {"a", "-", "b[m]"}, .delimiter = ';'}, "1;2;x\r\n",
         "a=1 b=x"},
        {LineFormat{.kind = LineFormat::Kind::nmea}, "$HEHDT,274.07,T*19\r\n", "hdt.heading=274.07"},
        {LineFormat{.kind = LineFormat::Kind::regex, .pattern = "T=(?P<t>[0-9.]+)C"}, "x T=5C\r", "t=5"},
    }));
    Pty pty;
    SerialFixture f(serial_options(pty.path(), format));
    CHECK(f.open() == Status::interrupted);
    pty.say(bytes);
    CHECK(f.reports(told));
}

TEST_CASE("invalid and overlong lines are counted, and reading continues", "[device][serial]") {
    Pty pty;
    SerialDriverOptions options = serial_options(pty.path());
    options.limits.line_bytes_max = 16;
    SerialFixture f(options);
    CHECK(f.open() == Status::interrupted);
    pty.say("a=1\n");
    CHECK(f.reports("lines.refused=0 a=1"));
    pty.say("wrong\n" + std::string(17, 'x') + "\na=2\n");
    CHECK(f.reports("lines.refused=2"));
    CHECK(f.last_report() == "a=2 lines.refused=2");
}

TEST_CASE("input between opening and the first line end may be the rest of a line", "[device][serial]") {
    Pty pty;
    SerialDriverOptions options = serial_options(pty.path());
    options.skip_first_line = true;
    SerialFixture f(options);
    CHECK(f.open() == Status::interrupted);
    pty.say("emp=1\ntemp=2\n");
    CHECK(f.reports("temp=2"));
    CHECK(f.last_report() == "lines.refused=0 temp=2");
}

TEST_CASE("samples have the time at which the line was complete", "[device][serial]") {
    Pty pty;
    SerialFixture f(serial_options(pty.path()));
    CHECK(f.open() == Status::interrupted);
    const auto before = to_ns(f.bench.batch().clock().mono_now());
    std::thread device([&] { pty.say("a=1\n"); });
    while (f.bench.read().status == Status::ok && f.bench.samples().empty()) {
    }
    device.join();
    CHECK(f.bench.sample_of("a").time_mono_ns >= before);
    CHECK(f.bench.sample_of("a").time_mono_ns <= to_ns(f.bench.batch().clock().mono_now()));
}

TEST_CASE("a device that stops sending fails until it sends again", "[device][serial]") {
    Pty pty;
    SerialDriverOptions options = serial_options(pty.path());
    options.silence_max = 50ms;
    SerialFixture f(options);
    CHECK(f.open() == Status::interrupted);
    pty.say("a=1\n");
    CHECK(f.reports("a=1"));
    CHECK(f.reads_until(Status::failed));
    CHECK(f.bench.what == pty.path() + ": no valid line for 50 ms");
    pty.say("wrong\n");
    CHECK(f.reports("lines.refused=1"));
    CHECK(f.reads_until(Status::failed));
    CHECK(f.bench.what == pty.path() + ": no valid line for 50 ms, 1 refused, last: no NAME=VALUE at \"wrong\"");
    pty.say("a=2\n");
    CHECK(f.reports("a=2"));
}

TEST_CASE("a device may be silent if there is no limit", "[device][serial]") {
    Pty pty;
    SerialDriverOptions options = serial_options(pty.path());
    options.silence_max = Duration::zero();
    SerialFixture f(options);
    CHECK(f.open() == Status::interrupted);
    CHECK(f.read() == Status::ok);  // after a wait of wait_max
}

TEST_CASE("an unplugged device is read again when it is back", "[device][serial]") {
    const test::ScratchDir scratch;
    const std::string link = scratch.path("by-id");
    auto pty = std::make_unique<Pty>();
    pty->link_from(link);
    SerialFixture f(serial_options(link));
    CHECK(f.open() == Status::interrupted);
    pty->say("a=1\nwrong\n");
    CHECK(f.reports("lines.refused=1"));

    pty.reset();
    CHECK(f.reads_until(Status::failed));
    CHECK(f.bench.what == link + ": disconnected: Input/output error");
    CHECK(f.reports("lines.refused=1"));
    CHECK(f.read() == Status::failed);
    CHECK(f.bench.what.starts_with(link + ": "));

    const Pty another;
    another.link_from(link);
    CHECK(f.open() == Status::interrupted);
    another.say("a=2\n");
    CHECK(f.reports("a=2"));
}

TEST_CASE("a port that is not a tty or does not exist is a failed read", "[device][serial]") {
    const test::ScratchDir scratch;
    SerialFixture absent(serial_options(scratch.path("absent")));
    CHECK(absent.read() == Status::failed);
    CHECK(absent.bench.what == scratch.path("absent") + ": No such file or directory");
    SerialFixture directory(serial_options(scratch.path()));
    CHECK(directory.read() == Status::failed);
    CHECK(directory.bench.what == scratch.path() + ": not a tty: Inappropriate ioctl for device");
    SerialFixture null(serial_options("/dev/null"));
    CHECK(null.read() == Status::failed);
    CHECK(null.bench.what == "/dev/null: not a tty: Inappropriate ioctl for device");
}

TEST_CASE("a port can only be opened by one reader", "[device][serial]") {
    Pty pty;
    SerialFixture first(serial_options(pty.path()));
    SerialFixture second(serial_options(pty.path()));
    CHECK(first.open() == Status::interrupted);
    CHECK(second.open() == Status::failed);
    CHECK(second.bench.what.starts_with(pty.path() + ": "));
    first.bench.driver().reset();
    CHECK(second.open() == Status::interrupted);
}

TEST_CASE("a read returns when it is canceled", "[device][serial]") {
    Pty pty;
    SerialDriverOptions options = serial_options(pty.path());
    options.silence_max = Duration::zero();
    SerialFixture f(options);
    std::thread canceller([&] { f.bench.cancel.set(); });
    while (f.read() == Status::ok) {
    }
    canceller.join();
    CHECK(f.read() == Status::interrupted);
    f.bench.cancel.clear();
    pty.say("a=1\n");
    CHECK(f.reports("a=1"));
}

TEST_CASE("input that arrived while nothing was reading has no time and is dropped", "[device][serial]") {
    Pty pty;
    SerialFixture f(serial_options(pty.path()));
    CHECK(f.open() == Status::interrupted);
    pty.say("a=1\na=");
    CHECK(f.reports("a=1"));
    pty.say("2\na=3\na=");
    const auto read_late = [&] {
        (void)f.bench.driver().read(f.bench.batch(), f.bench.batch().clock().mono_now() + 5s);
        return f.bench.batch().lost_at_source() == 2;
    };
    f.bench.cancel.set();  // does not wait for more
    CHECK(test::eventually(read_late));
    f.bench.cancel.clear();
    pty.say("4\na=5\n");
    CHECK(f.reports("a=5"));
    CHECK(f.last_report() == "a=5");
}

TEST_CASE("a line with known fields allocates nothing", "[device][serial]") {
    Pty pty;
    SerialFixture f(serial_options(pty.path()));
    CHECK(f.open() == Status::interrupted);
    pty.say("a=1 b=\"a text in quotes that is long\"\n");
    CHECK(f.reports("b=a text"));
    pty.say("a=2 b=\"a text in quotes that is long\"\n");
    Driver& driver = f.bench.driver();
    SampleBatch& batch = f.bench.batch();
    const MonoTime now = batch.clock().mono_now();
    const std::uint64_t before = test::allocations();
    const ReadResult result = driver.read(batch, now);
    const std::uint64_t after = test::allocations();
    CHECK(result.status == Status::ok);
    CHECK(after == before);
}

}  // namespace
}  // namespace telegate
