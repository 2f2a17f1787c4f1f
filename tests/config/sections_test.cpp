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

}  // namespace

TEST_CASE("all problems are reported at once, sorted by line", "[config][problems]") {
    const std::vector<std::string> problems = problems_of(
        "queue_size = x\nlog_levle = info\n[devise \"a\"]\n[device \"b\"]\ninterval_ms = 100 sm\nnonsense\n");
    REQUIRE(problems.size() == 6);
    CHECK(has(problems[0], "t.ini:1: queue_size: "));
    CHECK(has(problems[1], "t.ini:2: log_levle: "));
    CHECK(has(problems[2], "t.ini:3: unknown section: [devise \"a\"]"));
    CHECK(has(problems[3], "t.ini:4: driver: "));
    CHECK(has(problems[4], "t.ini:5: interval_ms: "));
    CHECK(has(problems[5], "t.ini:6: not a setting: \"nonsense\""));
}

TEST_CASE("the error text lists each problem on its own line", "[config][problems]") {
    try {
        (void)parse("queue_size = x\nlog_level = y\n");
        FAIL("no error");
    } catch (const SettingsError& error) {
        CHECK(std::string(error.what()) == error.problems().at(0).text() + "\n" + error.problems().at(1).text());
    }
}

TEST_CASE("at most 200 problems are listed, and the rest are counted", "[config][problems]") {
    std::string text;
    for (int i = 0; i < 250; ++i) {
        text += "nonsense\n";
    }
    const std::vector<std::string> problems = problems_of(text);
    REQUIRE(problems.size() == 201);
    CHECK(problems.back() == "t.ini: 50 more problems not listed");
}

TEST_CASE("an unknown key is reported with the nearest known one", "[config][problems]") {
    const auto [text, meant] =
        GENERATE(table<std::string, std::string>({{"queue_sise = 1", "queue_size"},
                                                  {"queuesize = 1", "queue_size"},
                                                  {"Queue_Size = 1", "queue_size"},
                                                  {"lgo_level = 1", "log_level"},
                                                  {"sampling_interval = 1", "sampling_interval_ms"},
                                                  {"[queue]\npolcy = block", "policy"}}));
    CAPTURE(text);
    CHECK(has(problem_of(text), "; did you mean " + meant + "?"));
}

TEST_CASE("an unknown key without a similar one is reported with all known ones", "[config][problems]") {
    CHECK(problem_of("color = red")
              .starts_with("t.ini:1: color: not a setting of the lines before the first section; must be one of "
                           "name, sampling_interval_ms, queue_size, log_level, "));
    CHECK(has(problem_of(std::string(3000, 'k') + " = 1"), "not a setting of"));
}

TEST_CASE("a key of another section is reported with the section where it belongs", "[config][problems]") {
    CHECK(problem_of("policy = block") ==
          "t.ini:1: policy: not a setting of the lines before the first section; it belongs in [queue]");
    CHECK(problem_of("[queue]\nqueue_size = 16\n") ==
          "t.ini:2: queue_size: not a setting of [queue]; it belongs in [gateway]");
    CHECK(has(problem_of("[queue]\nautostart = no"), "it belongs in [device \"NAME\"]"));
    CHECK(has(problem_of("[device \"a\"]\ndriver = host\nlog_level = info"), "it belongs in [gateway]"));
}

TEST_CASE("an unknown section is reported with the nearest known one, and its keys are not checked",
          "[config][problems]") {
    CHECK(problem_of("[devices \"a\"]\nfoo = 1") == "t.ini:1: unknown section: [devices \"a\"]; did you mean device?");
    CHECK(
        problem_of("[mqtt]") ==
        "t.ini:1: unknown section: [mqtt]; must be one of gateway, sampling, queue, log, logging, rest, tags, publish, "
        "services, uplink, device, channel");
}

TEST_CASE("a key of another driver is reported with that driver", "[config][problems]") {
    CHECK(problem_of("[device \"a\"]\nseed = 1\ndriver = host") ==
          "t.ini:2: seed: only valid with the driver simulated: the driver of this device is host");
    CHECK(has(problem_of("[device \"a\"]\ndriver = simulated\nper_core = yes"), "only valid with the driver host"));
}

TEST_CASE("the known keys of a device are those of its driver", "[config][problems]") {
    const std::string problem = problem_of("[device \"a\"]\ndriver = host\ncolor = red");
    CHECK(has(problem, "must be one of driver, interval_ms, interval_us, align, offset_ms, "));
    CHECK(has(problem, ", per_core, proc_root, sys_root"));
    CHECK_FALSE(has(problem, "waveforms"));
}

TEST_CASE("a missing driver is one problem; the keys of every driver are still checked", "[config][problems]") {
    CHECK(problem_of("\n[device \"a\"]\nseed = 1\nper_core = yes") ==
          "t.ini:2: driver: missing in [device \"a\"]; must be " + driver_names());
    CHECK(problems_of("[device \"a\"]\nseed = x").size() == 2);
}

TEST_CASE("an unknown driver is one problem", "[config][problems]") {
    CHECK(problem_of("[device \"a\"]\ndriver = hots\nseed = 1") ==
          "t.ini:2: driver: unknown value: \"hots\" (did you mean host?); must be " + driver_names());
}

TEST_CASE("a [publish] without endpoint is a problem", "[config][problems]") {
    CHECK(problem_of("[publish \"a\"]") ==
          "t.ini:1: endpoint: missing in [publish \"a\"]; must be tcp://ADDRESS:PORT or ipc://PATH");
}

TEST_CASE("a duplicate key is reported with the first line, and both values are checked", "[config][problems]") {
    const std::vector<std::string> problems = problems_of("log_level = info\n\nlog_level = loud\n");
    REQUIRE(problems.size() == 2);
    CHECK(problems[0] == "t.ini:3: log_level: duplicate (first defined on line 1)");
    CHECK(has(problems[1], "t.ini:3: log_level: unknown value: \"loud\""));
}

TEST_CASE("a duplicate section is reported with the first line, and its content is still checked",
          "[config][problems]") {
    CHECK(problem_of("[queue]\n[rest]\n[queue]") == "t.ini:3: duplicate: [queue] (first defined on line 1)");
    const std::vector<std::string> problems =
        problems_of("[device \"a\"]\ndriver = host\n[device \"a\"]\ninterval_ms = 0");
    REQUIRE(problems.size() == 2);
    CHECK(problems[0] == "t.ini:3: duplicate: [device \"a\"] (first defined on line 1)");
    CHECK(has(problems[1], "t.ini:4: interval_ms: out of range: \"0\""));
}

TEST_CASE("a device and an endpoint may share a name", "[config]") {
    CHECK(problem_of("[device \"a\"]\ndriver = host\n[publish \"a\"]\nendpoint = tcp://*:0").empty());
}

TEST_CASE("the name of a device is a topic part", "[config][problems]") {
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
    CHECK(has(problem, "invalid name: [device \"" + name + "\"]; must be 1 to 64 of the characters a-z 0-9 _ . -") ==
          !good);
}

TEST_CASE("sections of which there can be several need a name, others must not have one", "[config][problems]") {
    CHECK(problem_of("[device]\ndriver = host") == "t.ini:1: missing name: [device]; must be [device \"NAME\"]");
    CHECK(problem_of("[queue \"a\"]") == "t.ini:1: unexpected name: [queue \"a\"]; must be [queue]");
}

TEST_CASE("there are at most 256 devices and 16 endpoints", "[config][problems]") {
    CHECK(find_section("publish")->count_max == 16);
    CHECK(parse(devices(256)).devices.size() == 256);
    CHECK(problem_of(devices(258)) ==
          "t.ini:513: too many sections: [device \"d257\"]; must be at most 256 sections [device \"NAME\"]");
}

TEST_CASE("text from the file is shown without control bytes and truncated if it is long", "[config][problems]") {
    const std::string escape = problem_of("queue\x1b[2J = 1");
    CHECK(has(escape, "queue\\x1b[2J: not a setting"));
    const std::string cut = problem_of("queue_size = " + std::string(1000, 'x'));
    CHECK(has(cut, "not a whole number: \"" + std::string(80, 'x') + "...\""));
    const std::string whole_character = problem_of("queue_size = " + std::string(79, 'x') + "\xc3\xa4\xc3\xa4");
    CHECK(has(whole_character, std::string(79, 'x') + "...\""));
}
