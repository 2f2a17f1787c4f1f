#include "config/joined.hpp"
#include "config/payload_format.hpp"
#include "config/problems.hpp"
#include "config/quantity.hpp"
#include "device/common_settings.hpp"
#include "support/catch.hpp"
#include "support/driver_settings.hpp"

#include <string>
#include <string_view>

using namespace telegate;
using telegate::test::has;
using telegate::test::parse;
using telegate::test::problem_of;

namespace {

const std::string simulated = "[device \"s\"]\ndriver = simulated\n";

}  // namespace

TEST_CASE("the legacy keys can be given before the first section or in [gateway]", "[config]") {
    const std::string keys = "sampling_interval_ms = 5\nqueue_size = 6\nlog_level = warn\n";
    const Settings settings = parse(GENERATE("", "[gateway]\n") + keys);
    CHECK(settings.sampling_interval_ms == 5);
    CHECK(settings.queue_size == 6);
    CHECK(settings.log_level == "warn");
}

TEST_CASE("a legacy key given in both places is a duplicate", "[config]") {
    CHECK(problem_of("\nqueue_size = 6\n[gateway]\nqueue_size = 6\n") ==
          "t.ini:4: queue_size: duplicate (first defined on line 2)");
}

TEST_CASE("queue_size is auto by default, which 0 also means", "[config]") {
    CHECK(parse("").queue_size == 0);
    CHECK(parse("queue_size = auto").queue_size == 0);
    CHECK(parse("queue_size = 0").queue_size == 0);
    CHECK(parse("queue_size = 5\n").queue_size == 5);
    CHECK(has(problem_of("queue_size = automatic"), "1 to 1048576 (samples), or auto"));
}

TEST_CASE("whole numbers are only accepted within their range", "[config]") {
    const auto [line, good] = GENERATE(table<std::string, bool>({{"sampling_interval_ms = 1", true},
                                                                 {"sampling_interval_ms = 3600000", true},
                                                                 {"sampling_interval_ms = 0", false},
                                                                 {"sampling_interval_ms = 3600001", false},
                                                                 {"sampling_interval_ms = -1", false},
                                                                 {"sampling_interval_ms = 99999999999999999999", false},
                                                                 {"queue_size = 1048576", true},
                                                                 {"queue_size = 1048577", false},
                                                                 {"queue_size = -1", false}}));
    CAPTURE(line);
    CHECK(problem_of(line).empty() == good);
    CHECK(has(problem_of(line), "out of range") == !good);
}

TEST_CASE("a whole number without a unit consists of digits only", "[config]") {
    const auto* const text = GENERATE("", "x", "100 ms", "64KiB", "1.5", "1e3", "+5", "0x10", "5,", "--5");
    CAPTURE(text);
    CHECK(problem_of(std::string("queue_size = ") + text) ==
          "t.ini:1: queue_size: not a whole number: \"" + std::string(text) +
              "\"; must be a whole number without a unit, 1 to 1048576 (samples), or auto");
}

TEST_CASE("a time may have a unit", "[config][units]") {
    const auto [text, ms] = GENERATE(table<std::string, std::int64_t>({{"250", 250},
                                                                       {"250ms", 250},
                                                                       {"250 ms", 250},
                                                                       {"2000us", 2},
                                                                       {"1.5s", 1'500},
                                                                       {"0.001s", 1},
                                                                       {"2m", 120'000},
                                                                       {"2min", 120'000},
                                                                       {"1m30s", 90'000},
                                                                       {"1m 30s", 90'000},
                                                                       {"1h", 3'600'000},
                                                                       {"0.5h", 1'800'000}}));
    CAPTURE(text);
    CHECK(parse("sampling_interval_ms = " + text).sampling_interval_ms == ms);
}

TEST_CASE("a time that the setting cannot store exactly is refused", "[config][units]") {
    const auto [text, fault] =
        GENERATE(table<std::string, std::string>({{"250us", "not a whole number of ms"},
                                                  {"1.5", "not a whole number of ms"},
                                                  {"1.2345s", "not a whole number of ms"},
                                                  {"1s250us", "not a whole number of ms"},
                                                  {"5 parsecs", "unknown unit \"parsecs\""},
                                                  {"5S", "unknown unit \"S\""},
                                                  {"64KiB", "unknown unit \"KiB\""},
                                                  {"2h", "out of range"},
                                                  {"0s", "out of range"},
                                                  {"-5", "out of range"},
                                                  {"99999999999999999999d", "out of range"},
                                                  {"9000000000000000d", "out of range"},
                                                  {"200000000000000m 200000000000000d", "out of range"},
                                                  {"1ms1ms", "repeated unit \"ms\""},
                                                  {"1m 5s 1min", "repeated unit \"min\""},
                                                  {"-5s", "not a whole number"},
                                                  {"1m30", "not a whole number"},
                                                  {"1s,", "not a whole number"},
                                                  {".5s", "not a whole number"},
                                                  {"1.s", "not a whole number"},
                                                  {"1.0000000001s", "not a whole number"},
                                                  {"1 2", "not a whole number"},
                                                  {"1e3", "not a whole number"},
                                                  {"0x10", "not a whole number"},
                                                  {"s", "not a whole number"},
                                                  {"", "not a whole number"}}));
    CAPTURE(text);
    CHECK(problem_of("sampling_interval_ms = " + text) ==
          "t.ini:1: sampling_interval_ms: " + fault + ": \"" + text +
              "\"; must be a whole number of ms, 1 to 3600000, or a number with a unit: us, ms, s, min, h, d");
}

TEST_CASE("a size in bytes may have a unit", "[config][units]") {
    const auto [text, bytes] = GENERATE(table<std::string, std::int64_t>({{"64", 64},
                                                                          {"64B", 64},
                                                                          {"64 bytes", 64},
                                                                          {"1kB", 1'000},
                                                                          {"1KB", 1'000},
                                                                          {"1.5KiB", 1'536},
                                                                          {"2K", 2'048},
                                                                          {"3MB", 3'000'000},
                                                                          {"3M", 3'145'728},
                                                                          {"1MiB", 1'048'576},
                                                                          {"1G", 1'073'741'824},
                                                                          {"1GiB", 1'073'741'824},
                                                                          {"2GB", 2'000'000'000}}));
    CAPTURE(text);
    CHECK(std::get<std::int64_t>(parse_quantity(text, "bytes")) == bytes);
}

TEST_CASE("a fraction of a byte is refused", "[config][units]") {
    CHECK(std::get<std::string>(parse_quantity("0.3kiB", "bytes")) == "unknown unit \"kiB\": \"0.3kiB\"");
    CHECK(std::get<std::string>(parse_quantity("0.3KiB", "bytes")) == "not a whole number of bytes: \"0.3KiB\"");
}

TEST_CASE("real numbers are only accepted within their range", "[config]") {
    const auto [value, good] = GENERATE(table<std::string, bool>({{"0", true},
                                                                  {"1", true},
                                                                  {"0.25", true},
                                                                  {"1e-3", true},
                                                                  {"1.01", false},
                                                                  {"-0.1", false},
                                                                  {"1e999", false},
                                                                  {"nan", false},
                                                                  {"inf", false},
                                                                  {"50%", false},
                                                                  {"0,5", false},
                                                                  {"", false}}));
    CAPTURE(value);
    CHECK(problem_of(simulated + "error_probability = " + value).empty() == good);
}

TEST_CASE("booleans are words or digits, ignoring case", "[config]") {
    const auto [text, value] = GENERATE(table<std::string, bool>({{"1", true},
                                                                  {"yes", true},
                                                                  {"True", true},
                                                                  {"ON", true},
                                                                  {"0", false},
                                                                  {"no", false},
                                                                  {"FALSE", false},
                                                                  {"off", false}}));
    CHECK(sampling_of(parse(simulated + "autostart = " + text).devices.at(0)).started == value);
}

TEST_CASE("anything else is not a boolean", "[config]") {
    const auto* const text = GENERATE("", "2", "y", "ja", "yes please");
    CHECK(has(problem_of(simulated + "autostart = " + text),
              "not a boolean: \"" + std::string(text) + "\"; must be yes, true, on, 1, no"));
}

TEST_CASE("an invalid choice is reported with all choices and the nearest one", "[config]") {
    CHECK(problem_of("log_level = inof") ==
          "t.ini:1: log_level: unknown value: \"inof\" (did you mean info?); must be one of trace, debug, info, warn, "
          "error, off");
    CHECK(problem_of("[queue]\npolicy = 7") ==
          "t.ini:2: policy: unknown value: \"7\"; must be one of drop_oldest, drop_newest, block");
}

TEST_CASE("comments after values and quotes around values are reported with a hint", "[config]") {
    CHECK(problem_of("log_level = info # be chatty") ==
          "t.ini:1: log_level: unknown value: \"info # be chatty\" (a comment must be on its own line); "
          "must be one of trace, debug, info, warn, error, off");
    CHECK(problem_of("queue_size = 7\t; few").find(" (a comment must be on its own line)") != std::string::npos);
    CHECK(problem_of("[queue]\npolicy = \"block\"") ==
          "t.ini:2: policy: unknown value: '\"block\"' (did you mean block?) (values are not quoted); must be "
          "one of drop_oldest, drop_newest, block");
    CHECK(has(problem_of("queue_size = \"5\""), "not a whole number: '\"5\"' (values are not quoted); must be "));
    CHECK(has(problem_of(simulated + "autostart = \"yes\""),
              "not a boolean: '\"yes\"' (values are not quoted); must be "));
    CHECK(problem_of("log_level = in#fo").find("comment") == std::string::npos);
}

TEST_CASE("the format of an endpoint is one of the payload formats; the default is json", "[config]") {
    const std::string section = "[publish \"a\"]\nendpoint = tcp://*:0\n";
    CHECK(parse(section).publish.at(0).format == "json");
    for (const std::string_view format : payload_format_names.names) {
        CHECK(parse(section + "format = " + std::string(format)).publish.at(0).format == format);
    }
    CHECK(problem_of(section + "format = records") ==
          "t.ini:3: format: unknown value: \"records\" (did you mean record?); must be one of " +
              joined(payload_format_names.names));
}

TEST_CASE("a list contains each choice at most once", "[config]") {
    const auto list = [](const std::string& value) {
        return problem_of(simulated + "waveforms = " + value);
    };
    CHECK(test::setting_of(parse(simulated + "waveforms = noise ,sine").devices.at(0), "waveforms") == "noise, sine");
    CHECK(
        has(list("sine, sine"), "duplicate value: \"sine\"; must be one or more, separated by commas, of sine, ramp"));
    CHECK(has(list(""), "unknown value: \"\""));
    CHECK(has(list("sine,"), "unknown value: \"\""));
    CHECK(has(list("sin"), "unknown value: \"sin\" (did you mean sine?)"));
}

TEST_CASE("the settings of the sampling thread are parsed", "[config]") {
    const Settings settings = parse("[sampling]\nrealtime_priority = 99\ncpu_affinity = 3 ,0,\t1023\n");
    CHECK(settings.realtime_priority == 99);
    CHECK(settings.cpu_affinity == std::vector<std::int64_t>{3, 0, 1023});
    CHECK(settings.places_of("sampling").at("cpu_affinity").text() == "t.ini:3");
    CHECK(parse("[sampling]\ncpu_affinity =\n").cpu_affinity.empty());
}

TEST_CASE("a list of numbers contains each number at most once, within the range", "[config]") {
    const auto list = [](const std::string& value) {
        return problem_of("[sampling]\ncpu_affinity = " + value);
    };
    CHECK(list("0, 1024") ==
          "t.ini:2: cpu_affinity: out of range: \"1024\"; must be empty, or whole numbers separated by commas, "
          "0 to 1023");
    CHECK(has(list("1, 01"), "duplicate value: \"01\""));
    CHECK(has(list("-1"), "out of range: \"-1\""));
    CHECK(has(list("0-3"), "not a whole number: \"0-3\""));
    CHECK(has(list("0 1"), "not a whole number: \"0 1\""));
    CHECK(has(list("0,"), "not a whole number: \"\""));
    CHECK(has(list("any"), "not a whole number: \"any\""));
}

TEST_CASE("a real-time priority is 1 to 99, or 0 for none", "[config]") {
    CHECK(parse("[sampling]\nrealtime_priority = 0\n").realtime_priority == 0);
    CHECK(has(problem_of("[sampling]\nrealtime_priority = 100"),
              "out of range: \"100\"; must be a whole number without a unit, "
              "0 to 99"));
    CHECK(has(problem_of("[sampling]\nrealtime_priority = fifo"), "not a whole number"));
}

TEST_CASE("the interval of a device is set in milliseconds or microseconds", "[config]") {
    CHECK(parse(simulated + "interval_us = 250").devices.at(0).interval_us == 250);
    CHECK(has(problem_of(simulated + "interval_us = 9"),
              "out of range: \"9\"; must be a whole number of us, 10 to 3600000000, or a number with"));
    CHECK(parse(simulated + "interval_us = 0.25ms").devices.at(0).interval_us == 250);
    CHECK(problem_of(simulated + "interval_us = 250\ninterval_ms = 1") ==
          "t.ini:3: interval_us: conflicts with interval_ms; set only one of the two");
}

TEST_CASE("the REST address is a numeric host or localhost, and a port", "[config]") {
    const auto [text, host, port] =
        GENERATE(table<std::string, std::string, std::int64_t>({{"127.0.0.1:8080", "127.0.0.1", 8080},
                                                                {"0.0.0.0:0", "0.0.0.0", 0},
                                                                {"localhost:65535", "localhost", 65535},
                                                                {"[::1]:80", "::1", 80},
                                                                {"[::]:80", "::", 80}}));
    const Settings settings = parse("[rest]\nlisten = " + text);
    CHECK(settings.rest_host == host);
    CHECK(settings.rest_port == port);
}

TEST_CASE("an invalid REST address is refused", "[config]") {
    const auto* const text =
        GENERATE("8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
                 "example.org:80", "::1:80", "[127.0.0.1]:80", "[::1]", "[]:80", "256.0.0.1:80", "127.1:80", "[::1:80");
    CAPTURE(text);
    CHECK(problem_of("[rest]\nlisten = " + std::string(text)) ==
          "t.ini:2: listen: invalid address: \"" + std::string(text) +
              "\"; must be HOST:PORT with a numeric IPv4 address, an IPv6 address in brackets or localhost, and a port "
              "from 0 to 65535, or empty");
}

TEST_CASE("endpoints consist of a known scheme and an address", "[config]") {
    const auto* const text = GENERATE("", "tcp://", "ipc://", "udp://127.0.0.1:1", "127.0.0.1:1", "TCP://a:1");
    CHECK(has(problem_of("[publish \"a\"]\nendpoint = " + std::string(text)),
              "invalid value: \"" + std::string(text) + "\"; must be tcp://ADDRESS:PORT or ipc://PATH"));
}

TEST_CASE("a text must not contain control bytes", "[config]") {
    CHECK(has(problem_of("[publish \"a\"]\nendpoint = ipc:///a\x1b[31m"), "invalid value: \"ipc:///a\\x1b[31m\""));
}

TEST_CASE("every setting of a host device is parsed", "[config]") {
    const DeviceSettings device =
        parse(
            "[device \"h.1-a_b\"]\nper_core = yes\nproc_root = /p\nsys_root = /s\ndriver = host\n"
            "interval_ms = 7\nerrors_before_safe = 0\nautostart = no\nalign = wall\noffset_ms = 6\n"
            "breaker_failures = 0\nbreaker_wait_ms = 10\nbreaker_wait_max_ms = 1h\n")
            .devices.at(0);
    CHECK(device.name == "h.1-a_b");
    CHECK(device.driver == "host");
    CHECK(device.interval_ms == 7);
    const DeviceOptions& sampling = sampling_of(device);
    CHECK(sampling.errors_before_safe == 0);
    CHECK_FALSE(sampling.started);
    CHECK(sampling.alignment == Alignment::wall);
    CHECK(sampling.offset == std::chrono::milliseconds(6));
    CHECK(sampling.breaker == BreakerOptions{0, std::chrono::milliseconds(10), std::chrono::hours(1)});
    CHECK(test::setting_of(device, "per_core") == "yes");
    CHECK(test::setting_of(device, "proc_root") == "/p");
    CHECK(test::setting_of(device, "sys_root") == "/s");
}

TEST_CASE("a device without settings has the defaults", "[config]") {
    const DeviceSettings device = parse(simulated).devices.at(0);
    CHECK(device.interval_ms == 0);
    const DeviceOptions& sampling = sampling_of(device);
    CHECK_FALSE(sampling.errors_before_safe.has_value());
    CHECK(sampling.alignment == Alignment::start);
    CHECK(sampling.offset == Duration(0));
    CHECK(sampling.breaker == BreakerOptions{3, std::chrono::seconds(1), std::chrono::minutes(1)});
    CHECK(sampling.started);
}

TEST_CASE("devices and endpoints keep their order", "[config]") {
    const Settings settings = parse(
        "[device \"b\"]\ndriver = host\n[publish \"y\"]\nendpoint = tcp://*:1\n[device \"a\"]\ndriver = host\n"
        "[publish \"x\"]\nendpoint = ipc://@x\n");
    CHECK(settings.devices.at(0).name == "b");
    CHECK(settings.devices.at(1).name == "a");
    CHECK(settings.publish.at(0).name == "y");
    CHECK(settings.publish.at(1).endpoint == "ipc://@x");
}
