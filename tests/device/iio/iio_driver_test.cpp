#include "iio/iio_driver.hpp"

#include "device/allocation_counter.hpp"
#include "device/driver_bench.hpp"
#include "iio_tree.hpp"
#include "support/catch.hpp"

#include <unistd.h>

#include <stdexcept>

using namespace telegate;
using namespace telegate::test;

namespace {

void adc(IioTree& tree) {
    tree.set("name", "adc");
    tree.set("in_voltage0_raw", "100");
    tree.set("in_voltage1_raw", "200");
    tree.set("in_voltage1_scale", "0.25");
    tree.set("in_voltage_scale", "2");
    tree.set("in_temp_raw", "30");
    tree.set("in_temp_offset", "-10");
    tree.set("in_temp_scale", "1000");
    tree.set("in_illuminance_input", "12.5");
    tree.set("in_illuminance_raw", "7");
    tree.set("out_voltage0_raw", "5");
}

double value(const DriverBench& bench, std::string_view channel) {
    const TelemetrySample sample = bench.sample_of(channel);
    REQUIRE(sample.type == ValueType::real);
    CHECK(sample.quality == Quality::good);
    return sample.value.real;
}

}  // namespace

TEST_CASE("inputs are read and converted to their units", "[device][iio]") {
    IioTree tree;
    adc(tree);
    DriverBench bench(make_iio_driver(tree.options()));
    REQUIRE(bench.reads_ok());
    CHECK(bench.samples().size() == 4);
    CHECK(value(bench, "voltage0") == Approx(200.0));
    CHECK(value(bench, "voltage1") == Approx(50.0));
    CHECK(value(bench, "temp") == Approx(20.0));
    CHECK(value(bench, "illuminance") == Approx(12.5));  // processed values take precedence over raw ones
    CHECK(bench.channels().at(bench.sample_of("temp").channel).unit == "Cel");
    CHECK(bench.driver().traits().own_thread);
    CHECK_FALSE(bench.driver().traits().streams);
}

TEST_CASE("only requested channels are read, and a missing one is absent", "[device][iio]") {
    IioTree tree;
    adc(tree);
    IioDriverOptions options = tree.options();
    options.channels = {"temp", "voltage9"};
    DriverBench bench(make_iio_driver(options));
    REQUIRE(bench.reads_ok());
    CHECK(bench.samples().size() == 2);
    CHECK(value(bench, "temp") == Approx(20.0));
    CHECK(bench.sample_of("voltage9").quality == Quality::bad);
}

TEST_CASE("a device is found by its number, its name or its label", "[device][iio]") {
    IioTree tree;
    adc(tree);
    tree.set("label", "left tank");
    tree.tree.write(IioTree::at("name", "iio:device1"), "other\n");
    tree.tree.write(IioTree::at("in_voltage0_raw", "iio:device1"), "1\n");
    IioDriverOptions options = tree.options();
    options.device = GENERATE("adc", "left tank", "iio:device0");
    DriverBench bench(make_iio_driver(options));
    REQUIRE(bench.reads_ok());
    CHECK(value(bench, "voltage0") == Approx(200.0));
}

TEST_CASE("an unknown or ambiguous name is a failed reading with the reason", "[device][iio]") {
    IioTree tree;
    const std::string directory = tree.tree.path("sys/bus/iio/devices");
    DriverBench bench(make_iio_driver(tree.options()));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == directory + ": no device has the name or label adc");
    adc(tree);
    tree.tree.write(IioTree::at("name", "iio:device1"), "adc\n");
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == directory +
                            ": 2 devices have the name or label adc; must be iio:deviceN, or a label that only one "
                            "device has");
}

TEST_CASE(
    "an unplugged device fails, and continues in the same channels when it is back under "
    "another number",
    "[device][iio]") {
    IioTree tree;
    adc(tree);
    DriverBench bench(make_iio_driver(tree.options()));
    REQUIRE(bench.reads_ok());
    const ChannelId before = bench.sample_of("temp").channel;
    tree.tree.remove("sys/bus/iio/devices/iio:device0");
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what.find("No such device") != std::string::npos);
    CHECK(bench.read().status == ReadResult::Status::failed);
    tree.tree.write(IioTree::at("name", "iio:device3"), "adc\n");
    tree.tree.write(IioTree::at("in_temp_raw", "iio:device3"), "5000\n");
    REQUIRE(bench.reads_ok());
    CHECK(value(bench, "temp") == Approx(5.0));
    CHECK(bench.sample_of("temp").channel == before);
    CHECK(bench.sample_of("voltage0").quality == Quality::bad);
}

TEST_CASE("an input without a number is absent while another one has one", "[device][iio]") {
    IioTree tree;
    adc(tree);
    tree.set("in_voltage0_raw", "busy");
    DriverBench bench(make_iio_driver(tree.options()));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("voltage0").quality == Quality::bad);
    CHECK(value(bench, "voltage1") == Approx(50.0));
}

TEST_CASE("an input whose scale or offset cannot be read is bad until it can be read", "[device][iio]") {
    const auto* const attribute = GENERATE("in_voltage0_scale", "in_voltage_scale", "in_temp_offset", "in_temp_scale");
    const auto* const text = GENERATE("", "1.500000 dB", "busy", "nan", "inf", "1e999", "0.5 0.25");
    CAPTURE(attribute, text);
    IioTree tree;
    adc(tree);
    const std::string before = tree.get(attribute);
    tree.set(attribute, text);
    DriverBench bench(make_iio_driver(tree.options()));
    REQUIRE(bench.reads_ok());
    const std::string_view channel =
        std::string_view(attribute).find("temp") == std::string_view::npos ? "voltage0" : "temp";
    CHECK(bench.sample_of(channel).quality == Quality::bad);
    CHECK(value(bench, "voltage1") == Approx(50.0));
    tree.set(attribute, before.empty() ? "2" : before);
    REQUIRE(bench.reads_ok());
    CHECK(value(bench, channel) == Approx(channel == "temp" ? 20.0 : 200.0));
}

TEST_CASE("a scale whose reading fails is named", "[device][iio]") {
    IioTree tree;
    tree.set("name", "adc");
    tree.set("in_voltage0_raw", "1");
    const std::string path = tree.tree.path(IioTree::at("in_voltage0_scale"));
    REQUIRE(::symlink("/proc/self/mem", path.c_str()) == 0);  // reading it at offset 0 gives EIO
    tree.set("in_voltage_scale", "2");
    DriverBench bench(make_iio_driver(tree.options()));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == path + ": Input/output error");
}

TEST_CASE("a device without any readable input is a failed reading", "[device][iio]") {
    IioTree tree;
    tree.set("name", "adc");
    tree.set("in_voltage0_raw", "?");
    DriverBench bench(make_iio_driver(tree.options()));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == tree.tree.path(IioTree::at("in_voltage0_raw")) + ": not a number");
}

TEST_CASE("a cancel signal ends a reading between two inputs", "[device][iio]") {
    IioTree tree;
    adc(tree);
    DriverBench bench(make_iio_driver(tree.options()));
    bench.cancel.set();
    CHECK(bench.read().status == ReadResult::Status::interrupted);
    CHECK(bench.samples().empty());
}

TEST_CASE("inputs beyond the limit are counted", "[device][iio]") {
    IioTree tree;
    tree.set("name", "adc");
    for (int number = 0; number < 131; ++number) {
        tree.set("in_voltage" + std::to_string(number) + "_raw", "1");
    }
    DriverBench bench(make_iio_driver(tree.options()));
    REQUIRE(bench.reads_ok());
    CHECK(bench.samples().size() == 129);
    CHECK(bench.sample_of("left_out").value.integer == 3);
}

TEST_CASE("a sampling frequency is set where the device has the attribute", "[device][iio]") {
    IioTree tree;
    adc(tree);
    IioDriverOptions options = tree.options();
    options.sampling_frequency = 100'000.0;
    SECTION("on the device") {
        tree.set("sampling_frequency", "5");
        tree.set("in_temp_sampling_frequency", "5");
        CHECK(DriverBench(make_iio_driver(options)).reads_ok());
        CHECK(tree.get("sampling_frequency") == "100000");
        CHECK(tree.get("in_temp_sampling_frequency") == "5");
    }
    SECTION("on its channels") {
        tree.set("in_temp_sampling_frequency", "5");
        tree.set("in_voltage_sampling_frequency", "5");
        CHECK(DriverBench(make_iio_driver(options)).reads_ok());
        CHECK(tree.get("in_temp_sampling_frequency") == "100000");
        CHECK(tree.get("in_voltage_sampling_frequency") == "100000");
    }
    SECTION("on the trigger") {
        options.trigger = "timer";
        tree.tree.write("sys/bus/iio/devices/trigger4/name", "timer\n");
        tree.tree.write("sys/bus/iio/devices/trigger4/sampling_frequency", "1\n");
        CHECK(DriverBench(make_iio_driver(options)).reads_ok());
    }
    SECTION("nowhere") {
        DriverBench bench(make_iio_driver(options));
        CHECK(bench.read().status == ReadResult::Status::failed);
        CHECK(bench.what.find("sampling_frequency: 100000: No such file") != std::string::npos);
    }
}

TEST_CASE("reading attributes allocates nothing", "[device][iio]") {
    IioTree tree;
    adc(tree);
    DriverBench bench(make_iio_driver(tree.options()));
    REQUIRE(bench.reads_ok());
    const std::uint64_t before = allocations();
    for (int tick = 0; tick < 20; ++tick) {
        bench.read();
    }
    CHECK(allocations() == before);
}

TEST_CASE("invalid IIO options are refused with the reason", "[device][iio]") {
    IioDriverOptions options;
    CHECK_THROWS_WITH(make_iio_driver(options),
                      "device: invalid value: \"\"; must be the name or the label of a device, or iio:deviceN");
    options.device = "adc";
    options.channels = {"../x"};
    CHECK_THROWS_WITH(make_iio_driver(options),
                      "channels: invalid value: \"../x\"; must be names such as voltage0 or accel_x");
}
