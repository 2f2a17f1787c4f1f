#include "iio/iio_driver.hpp"

#include "core/clock.hpp"
#include "device/driver_bench.hpp"
#include "iio_tree.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <chrono>
#include <cstring>
#include <limits>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// be:s12/16>>4, le:u8/8>>0, five padding bytes, and a timestamp.
std::vector<std::byte> frame(int voltage, int count, std::int64_t timestamp) {
    std::vector<std::byte> bytes(16);
    const auto raw = static_cast<std::uint16_t>(voltage << 4);
    bytes[0] = static_cast<std::byte>(raw >> 8);
    bytes[1] = static_cast<std::byte>(raw & 0xFF);
    bytes[2] = static_cast<std::byte>(count);
    std::memcpy(bytes.data() + 8, &timestamp, sizeof(timestamp));
    return bytes;
}

std::int64_t mono_now_ns() {
    return to_ns(SystemClock{}.mono_now());
}

struct Capture {
    IioTree tree;
    IioDriverOptions options = tree.options();

    Capture() {
        options.buffered = true;
        tree.set("name", "adc");
        tree.set("in_voltage0_raw", "1");
        tree.set("in_voltage0_scale", "0.5");
        tree.scan_element("voltage0", 0, "be:s12/16>>4");
        tree.scan_element("voltage1", 1, "le:s16/16>>0");
        tree.scan_element("count0", 2, "le:u8/8>>0");
        tree.scan_element("timestamp", 3, "le:s64/64>>0");
        tree.buffer();
        options.channels = {"voltage0", "count0"};
    }
    /// A driver with a running capture. Its first read gets no data and waits until it is canceled.
    std::unique_ptr<DriverBench> started() {
        auto bench = std::make_unique<DriverBench>(make_iio_driver(options));
        bench->cancel.set();
        CHECK(bench->read().status == ReadResult::Status::interrupted);
        bench->cancel.clear();
        return bench;
    }
};

}  // namespace

TEST_CASE("a capture configures the device and disables it again", "[device][iio]") {
    Capture capture;
    capture.options.trigger = "timer";
    capture.options.buffer_length = 64;
    capture.tree.set("scan_elements/in_voltage1_en", "1");
    capture.tree.set("buffer/enable", "1");  // as after a crash
    capture.tree.set("trigger/current_trigger", "");
    {
        const auto bench = capture.started();
        CHECK(bench->driver().traits().streams);
        CHECK(capture.tree.get("scan_elements/in_voltage0_en") == "1");
        CHECK(capture.tree.get("scan_elements/in_voltage1_en") == "0");
        CHECK(capture.tree.get("scan_elements/in_count0_en") == "1");
        CHECK(capture.tree.get("scan_elements/in_timestamp_en") == "1");
        CHECK(capture.tree.get("buffer/length") == "64");
        CHECK(capture.tree.get("trigger/current_trigger") == "timer");
        CHECK(capture.tree.get("current_timestamp_clock") == "monotonic");
        CHECK(capture.tree.get("buffer/enable") == "1");
    }
    CHECK(capture.tree.get("buffer/enable") == "0");
}

TEST_CASE("each frame produces a sample of every channel, with the kernel's timestamp", "[device][iio]") {
    Capture capture;
    const auto bench = capture.started();
    const std::int64_t now_ns = mono_now_ns();
    const auto first = frame(-3, 7, now_ns - 2'000'000);
    const auto second = frame(2'000, 8, now_ns - 1'000'000);
    capture.tree.put(first);
    capture.tree.put(second);
    REQUIRE(bench->reads_ok());
    const auto voltages = bench->samples_of("voltage0");
    REQUIRE(voltages.size() == 2);
    CHECK(voltages[0].value.real == Approx(-1.5));
    CHECK(voltages[1].value.real == Approx(1'000.0));
    CHECK(voltages[0].time_mono_ns == now_ns - 2'000'000);
    CHECK(voltages[1].time_mono_ns == now_ns - 1'000'000);
    CHECK(voltages[1].time_utc_ns - voltages[0].time_utc_ns == 1'000'000);
    CHECK(voltages[0].quality == Quality::good);
    CHECK(bench->samples_of("count0")[1].value.real == Approx(8.0));
    CHECK(bench->samples().size() == 4);
}

TEST_CASE("values of a frame without a readable scale are bad until it can be read", "[device][iio]") {
    Capture capture;
    capture.tree.set("in_voltage0_scale", "busy");
    const auto bench = capture.started();
    capture.tree.put(frame(4, 7, mono_now_ns()));
    REQUIRE(bench->reads_ok());
    CHECK(bench->sample_of("voltage0").quality == Quality::bad);
    CHECK(bench->sample_of("count0").quality == Quality::good);
    capture.tree.set("in_voltage0_scale", "0.5");
    CHECK(eventually([&] {
        capture.tree.put(frame(4, 7, mono_now_ns()));
        REQUIRE(bench->reads_ok());
        return bench->samples_of("voltage0").back().quality == Quality::good;
    }));
    CHECK(bench->samples_of("voltage0").back().value.real == Approx(2.0));
}

TEST_CASE("wall-clock timestamps are used unchanged", "[device][iio]") {
    Capture capture;
    capture.options.timestamp_clock = "realtime";
    const auto bench = capture.started();
    const std::int64_t taken_ns = SystemClock{}.utc_now_ns() - 5'000'000;
    capture.tree.put(frame(1, 1, taken_ns));
    REQUIRE(bench->reads_ok());
    CHECK(bench->sample_of("voltage0").time_utc_ns == taken_ns);
    CHECK(bench->sample_of("voltage0").time_mono_ns < mono_now_ns());
}

TEST_CASE("with an invalid timestamp, the values get the time of the read and quality uncertain", "[device][iio]") {
    Capture capture;
    const auto bench = capture.started();
    const std::int64_t before_ns = mono_now_ns();
    capture.tree.put(frame(1, 1, GENERATE(0, -5, std::numeric_limits<std::int64_t>::max())));
    REQUIRE(bench->reads_ok());
    const TelemetrySample sample = bench->sample_of("voltage0");
    CHECK(sample.quality == Quality::uncertain);
    CHECK(sample.value.real == Approx(0.5));
    CHECK(sample.time_mono_ns >= before_ns);
}

TEST_CASE("a frame that arrives in parts is one frame", "[device][iio]") {
    Capture capture;
    const auto bench = capture.started();
    const auto bytes = frame(4, 9, mono_now_ns());
    capture.tree.put(std::span(bytes).first(5));
    REQUIRE(bench->reads_ok());
    CHECK(bench->samples().empty());
    capture.tree.put(std::span(bytes).subspan(5));
    REQUIRE(bench->reads_ok());
    CHECK(bench->sample_of("voltage0").value.real == Approx(2.0));
}

TEST_CASE("a capture fails when its device is removed, and the next read starts again", "[device][iio]") {
    Capture capture;
    const auto bench = capture.started();
    capture.tree.put(frame(1, 1, mono_now_ns()));
    REQUIRE(bench->reads_ok());
    capture.tree.end();
    CHECK(bench->read().status == ReadResult::Status::failed);
    CHECK(bench->what == capture.tree.tree.path("dev/iio:device0") + ": No such device");
    CHECK(capture.tree.get("buffer/enable") == "0");
    bench->cancel.set();
    CHECK(bench->read().status == ReadResult::Status::interrupted);
    bench->cancel.clear();
    CHECK(capture.tree.get("buffer/enable") == "1");
    capture.tree.put(frame(6, 1, mono_now_ns()));
    REQUIRE(bench->reads_ok());
    CHECK(bench->sample_of("voltage0").value.real == Approx(3.0));
}

TEST_CASE("a failed start reports the path that caused it", "[device][iio]") {
    Capture capture;
    std::string expected;
    SECTION("no character device") {
        capture.tree.tree.remove("dev/iio:device0");
        expected = capture.tree.tree.path("dev/iio:device0") + ": No such file or directory";
    }
    SECTION("no buffer") {
        capture.tree.tree.remove(IioTree::at("buffer"));
        expected = capture.tree.tree.path(IioTree::at("buffer/enable")) + ": No such file or directory";
    }
    SECTION("an invalid type") {
        capture.tree.set("scan_elements/in_voltage0_type", "le:s20/16>>0");
        expected = capture.tree.tree.path(IioTree::at("scan_elements/in_voltage0_type")) +
                   ": invalid type or index: \"le:s20/16>>0\"; must be a type such as le:s12/16>>4, and an "
                   "index";
    }
    SECTION("none of the channels") {
        capture.options.channels = {"voltage7"};
        expected =
            capture.tree.tree.path(IioTree::at("scan_elements/in_*_en")) + ": none of the requested channels exists";
    }
    SECTION("a trigger that cannot be set") {
        capture.options.trigger = "timer";
        expected =
            capture.tree.tree.path(IioTree::at("trigger/current_trigger")) + ": \"timer\": No such file or directory";
    }
    DriverBench bench(make_iio_driver(capture.options));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == expected);
}

TEST_CASE("a device without frames for too long is a failed reading", "[device][iio]") {
    Capture capture;
    capture.options.silence_ms = 500;
    DriverBench bench(make_iio_driver(capture.options));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == "adc: no frame for 500 ms");
}

TEST_CASE("a channel with several values becomes several channels", "[device][iio]") {
    Capture capture;
    capture.options.channels = {"rot_quaternion"};
    capture.tree.scan_element("rot_quaternion", 0, "le:s16/16X4>>0");
    const auto bench = capture.started();
    std::vector<std::byte> bytes(16);
    bytes[2] = std::byte{5};
    const std::int64_t now_ns = mono_now_ns();
    std::memcpy(bytes.data() + 8, &now_ns, sizeof(now_ns));
    capture.tree.put(bytes);
    REQUIRE(bench->reads_ok());
    CHECK(bench->sample_of("rot_quaternion.0").value.real == Approx(0.0));
    CHECK(bench->sample_of("rot_quaternion.1").value.real == Approx(5.0));
}
