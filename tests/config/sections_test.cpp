#include "config/problems.hpp"
#include "support/catch.hpp"

using namespace telegate;
using telegate::test::driver_names;
using telegate::test::has;
using telegate::test::parse;
using telegate::test::problem_of;
using telegate::test::problems_of;

namespace {

std::string devices(int count) {
    std::string text;
    for (int i = 1; i <= count; ++i) {
        text += "[device \"d" + std::to_string(i) + "\"]\ndriver = host\n";
    }
    return text;
}

std::string endpoints(int count) {
    std::string text;
    for (int i = 1; i <= count; ++i) {
        text += "[publish \"p" + std::to_string(i) + "\"]\nendpoint = tcp://*:0\n";
    }
    return text;
}

}  // namespace

TEST_CASE("all problems are told at once, in order of line", "[config][problems]") {
    const std::vector<std::string> problems = problems_of(
        "queue_size = x\nlog_levle = info\n[devise \"a\"]\n[device \"b\"]\ninterval_ms = 100 sm\nnonsense\n");
    REQUIRE(problems.size() == 6);
    CHECK(has(problems[0], "t.ini:1: queue_size: "));
    CHECK(has(problems[1], "t.ini:2: log_levle: "));
    CHECK(has(problems[2], "t.ini:3: [devise \"a\"] "));
    CHECK(has(problems[3], "t.ini:4: driver: "));
    CHECK(has(problems[4], "t.ini:5: interval_ms: "));
    CHECK(has(problems[5], "t.ini:6: \"nonsense\" "));
}

TEST_CASE("the error text holds every problem on a line of its own", "[config][problems]") {
    try {
        (void)parse("queue_size = x\nlog_level = y\n");
        FAIL("no error");
    } catch (const SettingsError& error) {
        CHECK(std::string(error.what()) == error.problems().at(0).text() + "\n" + error.problems().at(1).text());
    }
}

TEST_CASE("no more than 200 problems are told, and the rest is counted", "[config][problems]") {
    std::string text;
    for (int i = 0; i < 250; ++i) {
        text += "nonsense\n";
    }
    const std::vector<std::string> problems = problems_of(text);
    REQUIRE(problems.size() == 201);
    CHECK(problems.back() == "t.ini: 50 more problems are not listed");
}

TEST_CASE("an unknown key names the nearest known one", "[config][problems]") {
    const auto [text, meant] =
        GENERATE(table<std::string, std::string>({{"queue_sise = 1", "queue_size"},
                                                  {"queuesize = 1", "queue_size"},
                                                  {"Queue_Size = 1", "queue_size"},
                                                  {"lgo_level = 1", "log_level"},
                                                  {"sampling_interval = 1", "sampling_interval_ms"},
                                                  {"[queue]\npolcy = block", "policy"}}));
    CAPTURE(text);
    CHECK(has(problem_of(text), ", did you mean " + meant + "?"));
}

TEST_CASE("an unknown key that is near to none lists those there are", "[config][problems]") {
    CHECK(problem_of("colour = red")
              .starts_with("t.ini:1: colour: is not a setting of the lines before the first section, allowed: "
                           "sampling_interval_ms, queue_size, log_level, history_bytes, "));
    CHECK(has(problem_of(std::string(3000, 'k') + " = 1"), "is not a setting of"));
}

TEST_CASE("a key of another section is told where it belongs", "[config][problems]") {
    CHECK(problem_of("policy = block") ==
          "t.ini:1: policy: is not a setting of the lines before the first section, it belongs in [queue]");
    CHECK(has(problem_of("[queue]\nautostart = no"), "it belongs in [device \"NAME\"]"));
    CHECK(has(problem_of("[device \"a\"]\ndriver = host\nlog_level = info"), "it belongs in [gateway]"));
}

TEST_CASE("an unknown section names the nearest known one, and its keys are not judged", "[config][problems]") {
    CHECK(problem_of("[devices \"a\"]\nfoo = 1") ==
          "t.ini:1: [devices \"a\"] is not a known section, did you mean device?");
    CHECK(problem_of("[mqtt]") ==
          "t.ini:1: [mqtt] is not a known section, allowed: gateway, sampling, queue, log, rest, tags, publish, "
          "services, "
          "device, channel");
}

TEST_CASE("a key of the other driver is told with its driver", "[config][problems]") {
    CHECK(problem_of("[device \"a\"]\nseed = 1\ndriver = host") ==
          "t.ini:2: seed: is a setting of the driver simulated, but the driver of this device is host");
    CHECK(has(problem_of("[device \"a\"]\ndriver = simulated\nper_core = yes"), "is a setting of the driver host"));
}

TEST_CASE("the known keys of a device are those of its driver", "[config][problems]") {
    const std::string problem = problem_of("[device \"a\"]\ndriver = host\ncolour = red");
    CHECK(has(problem, "allowed: driver, interval_ms, interval_us, align, offset_ms, "));
    CHECK(has(problem, ", per_core, proc_root, sys_root"));
    CHECK_FALSE(has(problem, "waveforms"));
}

TEST_CASE("a missing driver is one problem; the keys of every driver are still checked", "[config][problems]") {
    CHECK(problem_of("\n[device \"a\"]\nseed = 1\nper_core = yes") ==
          "t.ini:2: driver: is missing in [device \"a\"], allowed: " + driver_names());
    CHECK(problems_of("[device \"a\"]\nseed = x").size() == 2);
}

TEST_CASE("an unknown driver is one problem", "[config][problems]") {
    CHECK(problem_of("[device \"a\"]\ndriver = hots\nseed = 1") ==
          "t.ini:2: driver: \"hots\" is not a choice (did you mean host?), allowed: " + driver_names());
}

TEST_CASE("a [publish] without endpoint is a problem", "[config][problems]") {
    CHECK(has(problem_of("[publish \"a\"]"), "t.ini:1: endpoint: is missing in [publish \"a\"], allowed: tcp://"));
}

TEST_CASE("a key given twice names the first line, and both values are checked", "[config][problems]") {
    const std::vector<std::string> problems = problems_of("log_level = info\n\nlog_level = loud\n");
    REQUIRE(problems.size() == 2);
    CHECK(problems[0] == "t.ini:3: log_level: is there twice, first in line 1");
    CHECK(has(problems[1], "t.ini:3: log_level: \"loud\" is not a choice"));
}

TEST_CASE("a section given twice names the first line, and what is in it is still checked", "[config][problems]") {
    CHECK(problem_of("[queue]\n[rest]\n[queue]") == "t.ini:3: [queue] is there twice, first in line 1");
    const std::vector<std::string> problems =
        problems_of("[device \"a\"]\ndriver = host\n[device \"a\"]\ninterval_ms = 0");
    REQUIRE(problems.size() == 2);
    CHECK(problems[0] == "t.ini:3: [device \"a\"] is there twice, first in line 1");
    CHECK(has(problems[1], "t.ini:4: interval_ms: \"0\" is out of range"));
}

TEST_CASE("a device and an endpoint may share a name", "[config]") {
    CHECK(problem_of("[device \"a\"]\ndriver = host\n[publish \"a\"]\nendpoint = tcp://*:0").empty());
}

TEST_CASE("the name of a device is a part of a topic", "[config][problems]") {
    const auto [name, good] = GENERATE(table<std::string, bool>({{"a", true},
                                                                 {"boiler-2.main_x", true},
                                                                 {std::string(64, 'x'), true},
                                                                 {std::string(65, 'x'), false},
                                                                 {"", false},
                                                                 {"Boiler", false},
                                                                 {"a b", false},
                                                                 {"a/b", false},
                                                                 {"k\xc3\xa4se", false}}));
    CAPTURE(name);
    const std::string problem = problem_of("[device \"" + name + "\"]\ndriver = host");
    CHECK(problem.empty() == good);
    CHECK(has(problem, "has a bad name, allowed: 1 to 64 of the characters a-z 0-9 _ . -") == !good);
}

TEST_CASE("sections of which there are several have a name, the others have none", "[config][problems]") {
    CHECK(problem_of("[device]\ndriver = host") == "t.ini:1: [device] has no name, allowed: [device \"NAME\"]");
    CHECK(problem_of("[queue \"a\"]") == "t.ini:1: [queue \"a\"] must not have a name, allowed: [queue]");
}

TEST_CASE("there are at most 256 devices", "[config][problems]") {
    CHECK(parse(devices(256)).devices.size() == 256);
    CHECK(problem_of(devices(258)) ==
          "t.ini:513: [device \"d257\"] is one too many, allowed are at most 256 sections [device \"NAME\"]");
}

TEST_CASE("there are at most 16 endpoints", "[config][problems]") {
    CHECK(parse(endpoints(16)).publish.size() == 16);
    CHECK(has(problem_of(endpoints(17)), "t.ini:33: [publish \"p17\"] is one too many"));
}

TEST_CASE("text from the file is shown without control bytes and cut when it is long", "[config][problems]") {
    const std::string escape = problem_of("queue\x1b[2J = 1");
    CHECK(has(escape, "queue\\x1b[2J: is not a setting"));
    const std::string cut = problem_of("queue_size = " + std::string(1000, 'x'));
    CHECK(has(cut, std::string(80, 'x') + "...\" is not a whole number"));
    const std::string whole_character = problem_of("queue_size = " + std::string(79, 'x') + "\xc3\xa4\xc3\xa4");
    CHECK(has(whole_character, std::string(79, 'x') + "...\""));
}
