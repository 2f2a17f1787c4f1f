#include "exec/command_driver.hpp"

#include "device/allocation_counter.hpp"
#include "exec_fixture.hpp"

#include <thread>

using namespace telegate;
using namespace telegate::test;

namespace {

/// A device with a continuous command, and its samples so far.
class Continuous {
  public:
    explicit Continuous(ExecDriverOptions options) {
        auto driver = std::make_unique<exec::CommandDriver>(std::move(options));
        driver_ = driver.get();
        bench.emplace(std::move(driver));
    }

    ReadResult::Status read() {
        const ReadResult::Status status = bench->read().status;
        all.insert(all.end(), bench->samples().begin(), bench->samples().end());
        failures += status == ReadResult::Status::failed ? 1U : 0U;
        return status;
    }
    bool reads_until_failure() {
        return eventually([&] { return read() == ReadResult::Status::failed; });
    }
    bool reads_until(std::string_view channel, std::size_t count = 1) {
        return eventually([&] { return read(), good_of(channel).size() >= count; });
    }
    [[nodiscard]] std::vector<TelemetrySample> good_of(std::string_view channel) const {
        std::vector<TelemetrySample> found;
        for (const TelemetrySample& sample : all) {
            if (bench->name_of(sample) == channel && sample.quality == Quality::good) {
                found.push_back(sample);
            }
        }
        return found;
    }
    [[nodiscard]] int pid() { return driver_->pid(); }
    void destroy() { bench.reset(); }

    std::optional<DriverBench> bench;
    std::vector<TelemetrySample> all;
    std::size_t failures = 0;

  private:
    exec::CommandDriver* driver_ = nullptr;
};

}  // namespace

TEST_CASE("lines of a continuous command are read as they arrive", "[device][exec]") {
    const ScratchDir dir;
    Continuous device(continuous_command("mkfifo " + dir.path("in") + "; echo n=1; read x < " + dir.path("in") +
                                         "; echo n=2; sleep 600"));
    CHECK(device.bench->driver().traits().streams);
    REQUIRE(device.reads_until("n"));
    const int pid = device.pid();
    std::ofstream(dir.path("in")) << "go\n";
    REQUIRE(device.reads_until("n", 2));
    CHECK(device.good_of("n")[1].value.integer == 2);
    CHECK(device.good_of("n")[1].time_mono_ns > device.good_of("n")[0].time_mono_ns);
    CHECK(device.pid() == pid);
    CHECK(device.failures == 0);
}

TEST_CASE("the exit of a continuous command is reported, and it is restarted", "[device][exec]") {
    Continuous device(continuous_command("echo n=$$; echo gone >&2; exit 4"));
    REQUIRE(device.reads_until_failure());
    CHECK(device.bench->what.find("exited with status 4: gone") != std::string::npos);
    const auto ended_at = std::chrono::steady_clock::now();
    REQUIRE(device.reads_until("n", 2));
    CHECK(std::chrono::steady_clock::now() - ended_at >= std::chrono::milliseconds(740));  // one second minus jitter
    CHECK(device.good_of("n")[0].value.integer != device.good_of("n")[1].value.integer);
}

TEST_CASE("a continuous command that exits with status 0 has failed too", "[device][exec]") {
    Continuous device(continuous_command("echo n=1"));
    REQUIRE(device.reads_until_failure());
    CHECK(device.bench->what.ends_with(": ended"));
    CHECK(device.good_of("n").size() == 1);
}

TEST_CASE("a command that cannot be started is reported and tried again", "[device][exec]") {
    ExecDriverOptions options = continuous_command("");
    options.shell = false;
    options.command = "/nonexistent/program";
    Continuous device(options);
    CHECK(device.read() == ReadResult::Status::failed);
    CHECK(eventually([&] { return device.read(), device.failures == 2; }));
}

TEST_CASE("a command that closes its output but keeps running is ended", "[device][exec]") {
    Continuous device(continuous_command("echo n=1; exec >&- 2>&-; trap '' TERM; while true; do sleep 1; done"));
    REQUIRE(device.reads_until("n"));
    const int pid = device.pid();
    if (device.failures == 0) {
        REQUIRE(device.reads_until_failure());
    }
    CHECK(device.bench->what.find("closed its output") != std::string::npos);
    CHECK_FALSE(is_there(pid));
}

TEST_CASE("a command without valid lines is ended and restarted after the maximum silence", "[device][exec]") {
    const std::string silent = GENERATE("echo n=$$; trap '' TERM; while true; do sleep 1; done",
                                        "echo n=$$; while true; do printf '%010000d' 0; sleep 0.01; done");
    CAPTURE(silent);
    ExecDriverOptions options = continuous_command(silent);
    options.silence_max = std::chrono::milliseconds(300);
    Continuous device(options);
    REQUIRE(device.reads_until("n"));
    const int pid = device.pid();
    if (device.failures == 0) {
        REQUIRE(device.reads_until_failure());
    }
    CHECK(device.bench->what.find("no valid line for 300 ms") != std::string::npos);
    CHECK_FALSE(is_there(pid));
    REQUIRE(device.reads_until("n", 2));
    CHECK(device.good_of("n")[1].value.integer != pid);
}

TEST_CASE("the cancel signal ends waiting but not the command", "[device][exec]") {
    Continuous device(continuous_command("echo n=1; sleep 600"));
    REQUIRE(device.reads_until("n"));
    const int pid = device.pid();
    std::thread canceller([&] { device.bench->cancel.set(); });
    CHECK(eventually([&] { return device.read() == ReadResult::Status::interrupted; }));
    canceller.join();
    device.bench->cancel.clear();
    CHECK(device.read() == ReadResult::Status::ok);
    CHECK(device.pid() == pid);
}

TEST_CASE("removing a device ends its command and the whole process group", "[device][exec]") {
    const ScratchDir dir;
    Continuous device(continuous_command("trap '' TERM; sleep 600 & echo $! > " + dir.path("pid") +
                                         "; echo n=1; while true; do sleep 1; done"));
    REQUIRE(device.reads_until("n"));
    const int pid = device.pid();
    const int grandchild = number_in(dir.path("pid"));
    CHECK(runs(grandchild));
    device.destroy();
    CHECK_FALSE(is_there(pid));
    CHECK(eventually([&] { return !runs(grandchild); }));
}

TEST_CASE("a reset restarts the command immediately", "[device][exec]") {
    Continuous device(continuous_command("echo n=$$; sleep 600"));
    REQUIRE(device.reads_until("n"));
    const int pid = device.pid();
    device.bench->driver().reset();
    REQUIRE(device.reads_until("n", 2));
    CHECK(device.pid() != pid);
    CHECK_FALSE(is_there(pid));
    CHECK(device.failures == 0);
}

TEST_CASE("a command ends with the thread that reads it, and the next thread restarts it", "[device][exec]") {
    auto driver = std::make_unique<exec::CommandDriver>(continuous_command("echo n=1; sleep 600"));
    exec::CommandDriver* const raw = driver.get();
    DriverBench bench(std::move(driver));
    int pid = -1;
    std::thread reader([&] {
        CHECK(eventually([&] { return bench.reads_ok() && !bench.samples_of("n").empty(); }));
        pid = raw->pid();
    });
    reader.join();
    CHECK(eventually([&] { return !runs(pid); }));
    CHECK(is_there(pid));  // its pid stays in use until it is reaped
    CHECK(bench.reads_ok());
    CHECK_FALSE(is_there(pid));
    CHECK(raw->pid() != pid);
    CHECK(eventually([&] { return bench.reads_ok() && !bench.samples_of("n").empty(); }));
}

TEST_CASE("a flood of lines is read in several calls", "[device][exec]") {
    Continuous device(continuous_command("yes n=1"));
    REQUIRE(device.reads_until("n", 100'000));
    CHECK(device.failures == 0);
}

TEST_CASE("reading lines of a continuous command allocates nothing", "[device][exec]") {
    exec::CommandDriver driver(continuous_command("yes 'n=1 m=2.5'"));
    const SystemClock clock;
    ChannelTable channels;
    std::size_t samples = 0;
    SampleBatch batch(clock, channels, {DeviceId{0}, "d"},
                      [&](std::span<const TelemetrySample> more) { samples += more.size(); });
    driver.open(batch);
    batch.go_on_from({});
    const auto read_some = [&](std::size_t count) {
        const std::size_t before = samples;
        return eventually([&] {
            (void)driver.read(batch, clock.mono_now());
            return samples - before >= count;
        });
    };
    REQUIRE(read_some(10'000));
    const std::uint64_t before = allocations();
    REQUIRE(read_some(10'000));
    CHECK(allocations() == before);
}
