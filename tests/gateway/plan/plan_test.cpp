#include "plan/plan.hpp"

#include "config/problems.hpp"
#include "config/setting_rules.hpp"
#include "config/settings_text.hpp"
#include "gateway/plan/plan_problems.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <fstream>
#include <string>
#include <vector>

using namespace telegate;
using telegate::test::has;
using telegate::test::plan_problems;
using telegate::test::ScratchDir;

TEST_CASE("an invalid endpoint is a problem with its line", "[gateway][plan]") {
    const auto problems = plan_problems("[publish \"a\"]\n\nendpoint = tcp://1.2.3:1\n");
    REQUIRE(problems.size() == 1);
    CHECK(has(problems[0], "x.ini:3: endpoint: "));
    CHECK(has(problems[0], "tcp://1.2.3:1"));
}

TEST_CASE("a device that cannot be created is a problem with the line of its section", "[gateway][plan]") {
    const auto problems = plan_problems("\n[device \"a\"]\ndriver = host\nproc_root = /nonexistent\n");
    REQUIRE(problems.size() == 1);
    CHECK(has(problems[0], "x.ini:2: "));
    CHECK(has(problems[0], "/nonexistent"));
}

TEST_CASE("all problems of a plan are reported at once", "[gateway][plan]") {
    CHECK(plan_problems("[publish \"a\"]\nendpoint = tcp://1.2.3:1\n[publish \"b\"]\nendpoint = tcp://[x]:1\n"
                        "[device \"c\"]\ndriver = host\nproc_root = /nonexistent\n")
              .size() == 3);
}

TEST_CASE("problems of the text and of the plan are reported together, in order of line", "[gateway][plan]") {
    const ScratchDir scratch;
    const std::string path = scratch.path("x.ini");
    std::ofstream(path) << "[publish \"a\"]\nendpoint = tcp://1.2.3:1\n[rest]\nlisten = nonsense\n"
                           "[publish \"b\"]\nendpoint = udp://1.2.3.4:5\n[device \"c\"]\ndriver = hots\n";
    try {
        (void)load_plan({.file = path});
        FAIL("no problem was found");
    } catch (const SettingsError& error) {
        std::vector<std::size_t> lines;
        for (const SettingsProblem& problem : error.problems()) {
            lines.push_back(problem.place.line);
        }
        CHECK(lines == std::vector<std::size_t>{2, 4, 6, 8});
    }
}

TEST_CASE("a setting with an invalid text is one problem, and not a second one with its default", "[gateway][plan]") {
    const ScratchDir scratch;
    const std::string path = scratch.path("x.ini");
    const std::string section =
        GENERATE(as<std::string>(), "[publish \"a\"]\nendpoint =\n", "[device \"a\"]\ndriver = modbus\nendpoint =\n",
                 "[device \"a\"]\ndriver = modbus\nendpoint = tcp://h\nregisters = none.csv\n",
                 "[device \"a\"]\ndriver = modbus\nendpoint = tcp://h\n[channel \"a/x\"]\naddress = -1\n",
                 "[device \"a\"]\ndriver = http\nurl = htp://x\n", "[device \"a\"]\ndriver = serial\n",
                 "[device \"a\"]\ndriver = iio\n", "[device \"a\"]\ndriver = exec\n",
                 "[device \"a\"]\ndriver = replay\n", "[log]\npath = l\nbytes_max = x\n");
    CAPTURE(section);
    std::ofstream(path) << section;
    try {
        (void)load_plan({.file = path});
        FAIL("no problem was found");
    } catch (const SettingsError& error) {
        CAPTURE(error.what());
        CHECK(error.problems().size() == 1);
    }
}

TEST_CASE("a duplicate endpoint is a problem, unless it requests any free port", "[gateway][plan]") {
    const std::string once = "[publish \"a\"]\nendpoint = tcp://127.0.0.1:5556\n";
    const auto problems = plan_problems(once + "[publish \"b\"]\nendpoint = tcp://127.0.0.1:5556\n");
    REQUIRE(problems.size() == 1);
    CHECK(has(problems[0], "x.ini:4: endpoint: "));
    CHECK(plan_problems("[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n"
                        "[publish \"b\"]\nendpoint = tcp://127.0.0.1:0\n")
              .empty());
}

TEST_CASE("two settings that use the same port or file are a problem that names both", "[gateway][plan]") {
    const auto [listen, first, second, clash] = GENERATE(
        table<std::string, std::string, std::string, bool>({{"", "tcp://*:5557", "tcp://127.0.0.1:5557", true},
                                                            {"", "tcp://[::]:5557", "tcp://127.0.0.1:5557", true},
                                                            {"", "tcp://[::]:5557", "tcp://[::1]:5557", true},
                                                            {"", "tcp://localhost:5557", "tcp://127.0.0.1:5557", true},
                                                            {"", "tcp://[::1]:5557", "tcp://[0:0::1]:5557", true},
                                                            {"", "tcp://*:5557", "tcp://lo:5557", true},
                                                            {"", "tcp://*:5557", "tcp://[::1]:5557", false},
                                                            {"", "tcp://127.0.0.1:5557", "tcp://127.0.0.2:5557", false},
                                                            {"", "tcp://127.0.0.1:5557", "tcp://127.0.0.1:5558", false},
                                                            {"", "ipc:///tmp/a", "ipc:///tmp/./a", true},
                                                            {"", "ipc:///tmp/a", "ipc:///tmp/nope/../a", true},
                                                            {"", "ipc://a", "ipc://./a", true},
                                                            {"", "ipc://@a", "ipc://a", false},
                                                            {"", "ipc://*", "ipc://*", false},
                                                            {"127.0.0.1:5557", "ipc:///tmp/a", "tcp://*:5557", true},
                                                            {"127.0.0.1:5557", "ipc:///tmp/a", "tcp://*:5558", false},
                                                            {"127.0.0.1:0", "ipc:///tmp/a", "tcp://*:0", false}}));
    CAPTURE(listen, first, second);
    const auto problems = plan_problems("[rest]\nlisten = " + listen + "\n[publish \"a\"]\nendpoint = " + first +
                                        "\n[publish \"b\"]\nendpoint = " + second + "\n");
    REQUIRE(problems.size() == (clash ? 1 : 0));
    if (clash) {
        CHECK(has(problems[0], "x.ini:6: endpoint: \"" + second + "\" uses the same "));
        CHECK(has(problems[0], listen.empty() ? "\"" + first + "\" in [publish \"a\"] (x.ini:4)"
                                              : "\"" + listen + "\" in [rest] (x.ini:2)"));
    }
}

TEST_CASE("two devices that use the same port or serial line are a problem", "[gateway][plan]") {
    const auto [first, second, clash] = GENERATE(table<std::string, std::string, std::string>(
        {{"udp\nlisten = 127.0.0.1:8125", "udp\nlisten = 0.0.0.0:8125", "listen: \"0.0.0.0:8125\" uses the same port"},
         {"udp\nlisten = 127.0.0.1:8125", "udp\nlisten = 127.0.0.1:8126", ""},
         {"udp\nlisten = 127.0.0.1:8080", "simulated", ""},  // the port of REST is a TCP port
         {"serial\nport = /dev/ttyX0", "serial\nport = /dev/./ttyX0", "port: \"/dev/./ttyX0\" uses the same file"},
         {"serial\nport = /dev/ttyX0", "serial\nport = /dev/ttyX1", ""}}));
    CAPTURE(first, second);
    const auto problems =
        plan_problems("[device \"a\"]\ndriver = " + first + "\n[device \"b\"]\ndriver = " + second + "\n");
    REQUIRE(problems.size() == (clash.empty() ? 0 : 1));
    if (!clash.empty()) {
        CHECK(has(problems[0], "x.ini:6: " + clash));
        CHECK(has(problems[0], "in [device \"a\"] (x.ini:3)"));
    }
}

TEST_CASE("the default address of REST, its socket and the log file also count as used", "[gateway][plan]") {
    const auto tcp = plan_problems("[publish \"a\"]\nendpoint = tcp://*:8080\n");
    REQUIRE(tcp.size() == 1);
    CHECK(has(tcp[0], "x.ini:2: endpoint: \"tcp://*:8080\" uses the same port as \"127.0.0.1:8080\" in [rest]: "));
    CHECK(plan_problems("[rest]\nunix_socket = /tmp/a\n[publish \"a\"]\nendpoint = ipc:///tmp//a\n").size() == 1);
    CHECK(plan_problems("[logging]\nfile = /tmp/a\n[rest]\nunix_socket = /tmp/a\n").size() == 1);
    CHECK(plan_problems("[rest]\nunix_socket = @a\n[publish \"a\"]\nendpoint = ipc://@a\n").empty());
}

TEST_CASE("an endpoint has the requested format, json by default", "[gateway][plan]") {
    const Plan plan = make_plan(
        parse_settings("[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n[publish \"b\"]\nendpoint = tcp://127.0.0.1:0\n"
                       "format = cbor\n[publish \"c\"]\nformat = record\nendpoint = ipc://@c\n"
                       "[publish \"d\"]\nformat = json\nendpoint = ipc://@d\n",
                       "x.ini"));
    REQUIRE(plan.publish.size() == 4);
    CHECK(plan.publish[0].format == PayloadFormat::json);
    CHECK(plan.publish[1].format == PayloadFormat::cbor);
    CHECK(plan.publish[2].format == PayloadFormat::record);
    CHECK(plan.publish[3].format == PayloadFormat::json);
}

TEST_CASE("the same endpoint cannot have two formats", "[gateway][plan]") {
    CHECK(plan_problems("[publish \"a\"]\nendpoint = ipc://@a\n[publish \"b\"]\nendpoint = ipc://@a\nformat = cbor\n")
              .size() == 1);
}

TEST_CASE("an interval can be given in microseconds", "[gateway][plan]") {
    const Plan plan =
        make_plan(parse_settings("[device \"a\"]\ndriver = simulated\ninterval_us = 333\n"
                                 "[device \"b\"]\ndriver = simulated\ninterval_us = 10\n"
                                 "[device \"c\"]\ndriver = simulated\ninterval_us = 3600000000\n",
                                 "t.ini"));
    CHECK(plan.devices[0].options.interval == std::chrono::microseconds(333));
    CHECK(plan.devices[1].options.interval == DeviceOptions::interval_min);
    CHECK(plan.devices[2].options.interval == DeviceOptions::interval_max);
}

TEST_CASE("the sampling thread has normal scheduling on any processor by default", "[gateway][plan]") {
    const Plan plain = make_plan(parse_settings("", "t.ini"));
    CHECK(plain.sampling_schedule.realtime_priority == 0);
    CHECK(plain.sampling_schedule.processors.empty());
    const Plan plan = make_plan(parse_settings("[sampling]\nrealtime_priority = 40\ncpu_affinity = 0\n", "t.ini"));
    CHECK(plan.sampling_schedule.realtime_priority == 40);
    CHECK(plan.sampling_schedule.processors == std::vector<unsigned>{0});
}

TEST_CASE("a processor that the machine does not have is a problem with its line", "[gateway][plan]") {
    const unsigned count = processor_count();
    REQUIRE(count < ThreadSchedule::processor_max);
    const auto problems = plan_problems("\n[sampling]\ncpu_affinity = 0, " + std::to_string(count));
    CHECK(problems == std::vector<std::string>{"x.ini:3: cpu_affinity: this machine has no processor " +
                                               std::to_string(count) + ": must be 0 to " + std::to_string(count - 1)});
}

TEST_CASE("a device without an interval uses that of the gateway", "[gateway][plan]") {
    const Plan plan = make_plan(
        parse_settings("sampling_interval_ms = 70\n[device \"a\"]\ndriver = simulated\n"
                       "[device \"b\"]\ndriver = simulated\ninterval_ms = 9\nautostart = no\nerrors_before_safe = 3\n",
                       "x.ini"));
    REQUIRE(plan.devices.size() == 2);
    CHECK(plan.devices[0].options.interval == std::chrono::milliseconds(70));
    CHECK(plan.devices[0].options.started);
    CHECK(plan.devices[1].options.interval == std::chrono::milliseconds(9));
    CHECK_FALSE(plan.devices[1].options.started);
    CHECK(plan.devices[1].options.errors_before_safe == 3);
    CHECK_FALSE(plan.devices[0].options.errors_before_safe.has_value());
}

TEST_CASE("alignment, offset and breaker of a device are taken from the settings", "[gateway][plan]") {
    const Plan plan = make_plan(
        parse_settings("[device \"a\"]\ndriver = simulated\n[device \"b\"]\ndriver = simulated\nalign = wall\n"
                       "offset_ms = 9\nbreaker_failures = 7\nbreaker_wait_ms = 20\nbreaker_wait_max_ms = 30\n"
                       "[device \"c\"]\ndriver = simulated\nalign = spread\n",
                       "x.ini"));
    const DeviceOptions& plain = plan.devices.at(0).options;
    CHECK(plain.alignment == Alignment::start);
    CHECK(plain.offset == Duration(0));
    CHECK(plain.breaker == BreakerOptions());
    const DeviceOptions& other = plan.devices.at(1).options;
    CHECK(other.alignment == Alignment::wall);
    CHECK(other.offset == std::chrono::milliseconds(9));
    CHECK(other.breaker.failures == 7);
    CHECK(other.breaker.wait == std::chrono::milliseconds(20));
    CHECK(other.breaker.wait_max == std::chrono::milliseconds(30));
    CHECK(plan.devices.at(2).options.alignment == Alignment::spread);
}

TEST_CASE("an offset must be less than the interval, wherever that is set", "[gateway][plan]") {
    CHECK(plan_problems("[device \"a\"]\ndriver = simulated\noffset_ms = 99\n").empty());
    CHECK(plan_problems("[device \"a\"]\ndriver = simulated\noffset_ms = 100\n") ==
          std::vector<std::string>{
              "x.ini:3: offset_ms: \"100\" is too large: must be less than the interval of the device, which is "
              "100 ms"});
    CHECK(plan_problems("[device \"a\"]\ndriver = simulated\ninterval_us = 1500\noffset_ms = 2\n") ==
          std::vector<std::string>{
              "x.ini:4: offset_ms: \"2\" is too large: must be less than the interval of the device, which is 1500 "
              "us"});
}

TEST_CASE("the maximum wait of a breaker must not be less than its wait", "[gateway][plan]") {
    CHECK(plan_problems("[device \"a\"]\ndriver = simulated\nbreaker_wait_max_ms = 999\n") ==
          std::vector<std::string>{
              "x.ini:3: breaker_wait_max_ms: \"999\" is too small: must be at least breaker_wait_ms, which is 1000 "
              "ms"});
}

TEST_CASE("queue size and policy are taken from the settings", "[gateway][plan]") {
    for (const std::string_view policy : rules::overflow_policies) {
        const std::string ini = "queue_size = 77\n[queue]\npolicy = " + std::string(policy);
        const Plan plan = make_plan(parse_settings(ini, "x.ini"));
        CHECK(plan.queue_capacity == 77);
        CHECK(to_string(plan.queue_policy) == policy);
    }
}

TEST_CASE("the policy of an endpoint is taken from its settings", "[gateway][plan]") {
    for (const std::string_view policy : rules::slow_policies) {
        const std::string ini = "[publish \"a\"]\nendpoint = tcp://127.0.0.1:5556\npolicy = " + std::string(policy);
        CHECK(to_string(make_plan(parse_settings(ini, "x.ini")).publish.at(0).delivery.policy) == policy);
    }
}

TEST_CASE("a modbus setting of a channel without an address is a problem with its line", "[gateway][plan]") {
    const std::string device =
        "[device \"plc\"]\ndriver = modbus\nendpoint = tcp://127.0.0.1:502\n"
        "[channel \"plc/a\"]\naddress = 1\n[channel \"plc/flow\"]\nscale = 2\n";
    const auto [key, value] = GENERATE(table<std::string, std::string>({{"type", "auto"},
                                                                        {"table", "holding"},
                                                                        {"unit_id", "7"},
                                                                        {"bit", "0"},
                                                                        {"word_order", "big"},
                                                                        {"byte_swap", "no"}}));
    const std::string line = key + " = " + value + "\n";
    CHECK(plan_problems(device + line) == std::vector<std::string>{"x.ini:8: " + key + ": \"" + value +
                                                                   "\" has no effect without an address: set address"});
    CHECK(plan_problems(device + line + "address = 3\n").empty());
}

TEST_CASE("a frame setting of a serial channel is a problem where it has no meaning", "[gateway][plan]") {
    const std::string port = "[device \"scale\"]\ndriver = serial\nport = /dev/null\n";
    const std::string frames = port +
                               "format = frames\nframe_start = AA\nframe_bytes = 9\n[channel \"scale/w\"]\n"
                               "frame_type = uint8\nframe_offset = 1\n[channel \"scale/frames.refused\"]\n";
    CHECK(plan_problems(frames + "unit = g\n").empty());
    CHECK(plan_problems(frames + "frame_offset = 2\n") ==
          std::vector<std::string>{"x.ini:11: frame_offset: \"2\" has no effect without a frame_type: set frame_type"});
    const std::string lines = port + "format = nmea\n[channel \"scale/gga.time\"]\n";
    CHECK(plan_problems(lines + "unit = g\n").empty());
    CHECK(plan_problems(lines + "frame_type = uint8\n") ==
          std::vector<std::string>{
              "x.ini:6: frame_type: \"uint8\" has no effect with format = nmea; requires format = frames"});
    CHECK(plan_problems(lines + "frame_offset = 0\n") ==
          std::vector<std::string>{
              "x.ini:6: frame_offset: \"0\" has no effect with format = nmea; requires format = frames"});
}

TEST_CASE("settings that are printed as a file can be planned again", "[gateway][plan]") {
    const std::string ini =
        "[device \"plc\"]\ndriver = modbus\nendpoint = tcp://127.0.0.1:502\n"
        "[channel \"plc/a\"]\naddress = 1\n[channel \"plc/unit.1.exception\"]\nalarm_high = 2\n"
        "[device \"gps\"]\ndriver = serial\nport = /dev/null\n"
        "[channel \"gps/a\"]\nscale = 2\n";
    CHECK(plan_problems(ini).empty());
    CHECK(plan_problems(sample_ini(parse_settings(ini, "x.ini"))).empty());
}
