#include "plan/checks.hpp"

#include "config/problems.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace telegate;
using telegate::test::has;
using telegate::test::ScratchDir;

namespace {

using Texts = std::vector<std::string>;

Texts warnings_of(const std::string& ini) {
    const Settings settings = parse_settings(ini, "t.ini");
    Texts texts;
    for (const SettingsProblem& warning : device_warnings(settings, make_plan(settings))) {
        texts.push_back(warning.text());
    }
    return texts;
}

/// Returns the key of each warning that needs no device.
Texts warned_keys(const std::string& ini) {
    Texts keys;
    for (const SettingsProblem& warning : setting_warnings(parse_settings(ini, "t.ini"))) {
        CHECK(warning.place.line > 0);
        keys.push_back(warning.key);
    }
    return keys;
}

std::string device(const std::string& keys) {
    return "[device \"d\"]\n" + keys;
}

const std::string plc = "[device \"d\"]\ndriver = modbus\nendpoint = tcp://127.0.0.1\n";

std::string registers(const std::string& name, const std::string& keys) {
    return "[channel \"d/" + name + "\"]\n" + keys;
}

void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("a check warns of a tty that is missing or is not a tty", "[gateway][check]") {
    const ScratchDir scratch;
    write(scratch.path("file"), "");
    const std::string none = scratch.path("ttyUSB0");
    CHECK(warnings_of(device("driver = serial\nport = " + none + '\n')) ==
          Texts{"t.ini:3: port: currently not available: " + none + ": No such file or directory"});
    CHECK(warnings_of(device("driver = serial\nport = " + scratch.path("file") + '\n')) ==
          Texts{"t.ini:3: port: currently not available: " + scratch.path("file") + ": not a tty"});
    CHECK(warnings_of(device("driver = serial\nport = /dev/null\n")).empty());
    CHECK(warnings_of(device("driver = modbus\nendpoint = rtu://" + none + '\n') + registers("a", "address = 1\n")) ==
          Texts{"t.ini:3: endpoint: currently not available: " + none + ": No such file or directory"});
}

TEST_CASE("a check warns of a host name that does not resolve, and resolves no numeric one", "[gateway][check]") {
    const Texts warnings =
        warnings_of(device("driver = modbus\nendpoint = tcp://plc.invalid:502\n") + registers("a", "address = 1\n"));
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].starts_with("t.ini:3: endpoint: currently not available: host plc.invalid: "));
    CHECK(warnings_of(plc + registers("a", "address = 1\n")).empty());
}

TEST_CASE("a check warns of a missing program and a missing folder", "[gateway][check]") {
    CHECK(warnings_of(device("driver = exec\ncommand = no-such-program -x\nworking_directory = /nowhere\n")) ==
          Texts{"t.ini:3: command: currently not available: no-such-program: no such program in PATH",
                "t.ini:4: working_directory: currently not available: /nowhere: No such file or directory"});
    CHECK(warnings_of(device("driver = exec\ncommand = /nowhere/probe\n")) ==
          Texts{"t.ini:3: command: currently not available: /nowhere/probe: No such file or directory"});
    CHECK(warnings_of(device("driver = exec\nshell = yes\ncommand = no-such-program\n")).empty());
    CHECK(warnings_of(device("driver = exec\ncommand = true\n")).empty());
}

TEST_CASE("a check warns of missing files of host and of a missing log", "[gateway][check]") {
    const ScratchDir scratch;
    write(scratch.path("hwmon1/fan1_input"), "1200");
    const std::string files = "fan=" + scratch.path("hwmon*/fan1_input") + ", pump=" + scratch.path("pump");
    CHECK(warnings_of(device("driver = host\nfiles = " + files + '\n')) ==
          Texts{"t.ini:3: files: currently not available: " + scratch.path("pump") + ": no such file"});
    CHECK(warnings_of(device("driver = replay\npath = " + scratch.path("log") + '\n')) ==
          Texts{"t.ini:3: path: currently not available: " + scratch.path("log") + ": No such file or directory"});
}

TEST_CASE("a check warns of a missing IIO device and of channels that it currently lacks", "[gateway][check]") {
    const ScratchDir scratch;
    const std::string adc = device("driver = iio\ndevice = adc\nsys_root = " + scratch.path() + '\n');
    const std::string section = "[channel \"d/voltag0\"]\nunit = V\n";
    const Texts absent = warnings_of(adc + section);
    REQUIRE(absent.size() == 1);
    CHECK(has(absent[0], "t.ini:3: device: currently not available: "));
    write(scratch.path("bus/iio/devices/iio:device0/name"), "adc\n");
    write(scratch.path("bus/iio/devices/iio:device0/in_voltage0_raw"), "1\n");
    CHECK(warnings_of(adc + section) ==
          Texts{"t.ini:5: channel \"d/voltag0\": the device currently has no channel with this name; did "
                "you mean \"voltage0\"?"});
    CHECK(warnings_of(adc + "[channel \"d/voltage0\"]\nunit = V\n").empty());
}

TEST_CASE("a check warns of a channel of host that the machine currently lacks", "[gateway][check]") {
    const Texts warnings = warnings_of(device("driver = host\n") + "[channel \"d/net.nic9.rx_rate\"]\nunit = B/s\n" +
                                       "[channel \"d/cpu.busy\"]\nunit = 1\n");
    REQUIRE(warnings.size() == 1);
    CHECK(has(warnings[0],
              "t.ini:3: channel \"d/net.nic9.rx_rate\": the device currently has no channel with this "
              "name"));
}

TEST_CASE("a check explains an address that looks like one from a manual, once for each table", "[gateway][check]") {
    CHECK(warnings_of(plc + registers("a", "address = 40101\n") + registers("b", "address = 40103\n") +
                      registers("c", "address = 100\n") + registers("d", "table = input\naddress = 30001\n")) ==
          Texts{"t.ini:12: address: 30001 is sent as the protocol address; in a manual, 30001 is input register 0",
                "t.ini:5: address: 40101 is sent as the protocol address; in a manual, 40101 is holding register 100 "
                "(channels with such an address: 2)"});
    CHECK(warnings_of(plc + registers("a", "address = 40000\n") + registers("b", "address = 50000\n") +
                      registers("c", "address = 10100\n") + registers("d", "address = 30775\n"))
              .empty());
}

TEST_CASE("a check warns of registers that two channels read differently", "[gateway][check]") {
    const std::string flow = registers("flow", "address = 100\ntype = float32\n");
    CHECK(warnings_of(plc + flow + registers("level", "address = 101\n")) ==
          Texts{"t.ini:8: address: holding 101 overlaps with 100-101 of channel \"d/flow\""});
    CHECK(warnings_of(plc + registers("level", "address = 100\n") + flow).size() == 1);
    CHECK(warnings_of(plc + registers("wide", "address = 100\ntype = uint64\n") + registers("a", "address = 101\n") +
                      registers("b", "address = 103\n"))
              .size() == 2);
    const auto keys =
        GENERATE("address = 102\n", "address = 101\nunit_id = 2\n", "address = 101\ntable = input\n",
                 "address = 100\ntype = uint32\n", "address = 101\nbit = 3\n", "address = 101\ntable = coil\n");
    CAPTURE(keys);
    CHECK(warnings_of(plc + flow + registers("other", keys)).empty());
}

TEST_CASE("the number of reported overlaps is limited", "[gateway][check]") {
    std::string ini = plc;
    for (int i = 0; i < 60; ++i) {
        ini += registers("c" + std::to_string(i), "type = uint32\naddress = " + std::to_string(i) + '\n');
    }
    CHECK(warnings_of(ini).size() == 20);
}

TEST_CASE("settings that are valid and probably not meant are warnings with their line", "[gateway][plan]") {
    const auto [ini, warned] = GENERATE(table<std::string, Texts>({
        {"[log]\npath = l\nage_max = 59s\n", {"age_max"}},
        {"[log]\npath = l\nage_max = 60s\n", {}},
        {"[device \"d\"]\ndriver = host\ninterval_ms = 1000\n[channel \"d/a\"]\nwindow_ms = 999\n", {"window_ms"}},
        {"[device \"d\"]\ndriver = host\ninterval_ms = 1000\n[channel \"d/a\"]\nwindow_ms = 1000\n", {}},
        {"[publish \"p\"]\nendpoint = tcp://*:5556\n", {"endpoint"}},
        {"[publish \"p\"]\nendpoint = tcp://[::]:5556\n", {"endpoint"}},
        {"[publish \"p\"]\nendpoint = tcp://[::0]:5556\n", {"endpoint"}},
        {"[publish \"p\"]\nendpoint = tcp://[0:0:0:0:0:0:0:0]:5556\n", {"endpoint"}},
        {"[publish \"p\"]\nendpoint = tcp://[::1]:5556\n", {}},
        {"[publish \"p\"]\nendpoint = tcp://0.0.0.0:5556\ncurve_secret_key_file = k\n", {}},
        {"[services \"s\"]\nendpoint = tcp://*:5557\n", {"endpoint"}},
        {"[publish \"p\"]\nendpoint = tcp://127.0.0.1:5556\n", {}},
    }));
    CAPTURE(ini);
    CHECK(warned_keys(ini) == warned);
}

TEST_CASE("a file with a secret that all users can access is a warning", "[gateway][plan]") {
    const ScratchDir scratch;
    const std::string secret = scratch.path("secret");
    write(secret, "x");
    const std::string ini = "[device \"d\"]\ndriver = http\nurl = https://h/\ntoken_file = " + secret +
                            "\n[uplink \"u\"]\nurl = nats://h\ncredentials_file = " + secret + "\ntls_ca = " + secret +
                            '\n';
    std::filesystem::permissions(secret, std::filesystem::perms{0604});
    CHECK(warned_keys(ini) == Texts{"credentials_file", "token_file"});
    std::filesystem::permissions(secret, std::filesystem::perms{0640});
    CHECK(warned_keys(ini).empty());
}
