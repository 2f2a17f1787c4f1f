#include "app/command_line.hpp"

#include "config/problems.hpp"
#include "plan/checks.hpp"
#include "plan/plan.hpp"
#include "settings/settings_json.hpp"
#include "support/catch.hpp"
#include "support/curve_files.hpp"
#include "support/scratch_dir.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace telegate;
using telegate::test::has;
using telegate::test::ScratchDir;

namespace {

struct AnswerBench : ScratchDir {
    [[nodiscard]] SettingsAnswer answer(const std::string& text, Purpose purpose, const std::string& format) const {
        std::ofstream(path("a.ini")) << text;
        return answer_settings({.sources = {.file = path("a.ini"), .environment = {{"TELEGATE_PORT", "tcp://1"}}},
                                .purpose = purpose,
                                .format = format});
    }
};

std::vector<std::string> machine_texts(const std::string& ini) {
    std::vector<std::string> texts;
    for (const SettingsProblem& problem : machine_problems(parse_settings(ini, "t.ini"))) {
        texts.push_back(problem.text());
    }
    return texts;
}

}  // namespace

TEST_CASE("a check reports all problems that a start would report", "[gateway][check]") {
    const AnswerBench bench;
    const SettingsAnswer answer =
        bench.answer("queue_size = x\n[publish \"a\"]\nendpoint = tcp://nowhere\n", Purpose::check, "text");
    CHECK(answer.exit_code == exit_code::config);
    CHECK(answer.output.empty());
    CHECK(has(answer.errors, "a.ini:1: queue_size: not a whole number: \"x\""));
    CHECK(has(answer.errors, "a.ini:3: endpoint: \"tcp://nowhere\" is not a valid endpoint"));
}

TEST_CASE("valid settings are reported as such, along with warnings", "[gateway][check]") {
    const AnswerBench bench;
    const std::string text = "[publish \"a\"]\nendpoint = ipc:///nonexistent/a\n[device \"d\"]\ndriver = simulated\n";
    const SettingsAnswer answer = bench.answer(text, Purpose::check, "text");
    CHECK(answer.exit_code == exit_code::ok);
    CHECK(answer.output == bench.path("a.ini") + ": no problems found\n");
    CHECK(has(answer.errors, "warning: env TELEGATE_PORT: not a setting, ignored\n"));
    CHECK(
        has(answer.errors, "a.ini:2: endpoint: cannot create the socket in /nonexistent: No such file or directory\n"));
    const auto document = nlohmann::json::parse(bench.answer(text, Purpose::check, "json").output);
    CHECK(document["valid"] == true);
    CHECK(document["problems"].empty());
    CHECK(document["warnings"].size() == 2);
}

TEST_CASE("a missing file has its own exit code", "[gateway][check]") {
    const auto [purpose, format] = GENERATE(
        table<Purpose, std::string>({{Purpose::check, "text"}, {Purpose::check, "json"}, {Purpose::print, "ini"}}));
    const SettingsAnswer answer =
        answer_settings({.sources = {.file = "/nonexistent/a.ini"}, .purpose = purpose, .format = format});
    CHECK(answer.exit_code == exit_code::no_input);
    CHECK(has(answer.output + answer.errors, "cannot be read: No such file or directory"));
}

TEST_CASE("settings are printed in each format", "[gateway][print]") {
    const AnswerBench bench;
    CHECK(has(bench.answer("queue_size = 7", Purpose::print, "text").output, "a.ini:1\n"));
    CHECK(has(bench.answer("queue_size = 7", Purpose::print, "ini").output, "\nqueue_size = 7\n"));
    CHECK(has(bench.answer("queue_size = 7", Purpose::print, "json").output, "\"queue_size\": 7"));
    const SettingsAnswer answer = bench.answer("queue_size = x", Purpose::print, "ini");
    CHECK(answer.exit_code == exit_code::config);
    CHECK(answer.output.empty());
    CHECK(has(answer.errors, "a.ini:1: queue_size: "));
}

TEST_CASE("a check in JSON names the source of each problem, the full key and what is wrong", "[gateway][check]") {
    const ScratchDir scratch;
    std::ofstream(scratch.path("a.ini")) << "[queue]\npolicy = wait\n";
    const SettingsAnswer answer =
        answer_settings({.sources = {.file = scratch.path("a.ini"),
                                     .environment = {{"TELEGATE_LOG_LEVEL", "loud"}},
                                     .assignments = {"queue.polcy=block", "device.boiler.seed=x", "qeue.policy=block"}},
                         .purpose = Purpose::check,
                         .format = "json"});
    CHECK(answer.exit_code == exit_code::config);
    CHECK(answer.errors.empty());
    std::vector<std::string> told;
    const auto document = nlohmann::json::parse(answer.output);
    CHECK(document["valid"] == false);
    CHECK(document["problems"][0]["file"] == scratch.path("a.ini"));
    CHECK(document["problems"][0]["line"] == 2);
    CHECK(has(document["problems"][0]["what"].get<std::string>(), "unknown value: \"wait\""));
    for (const auto& problem : document["problems"]) {
        told.push_back(problem["source"].get<std::string>() + " " + problem.value("variable", "") +
                       problem.value("option", "") + " " + problem.value("key", "none"));
        CHECK(problem.contains("file") == (problem["source"] == "file"));
    }
    CHECK(told == std::vector<std::string>{"file  queue.policy", "environment TELEGATE_LOG_LEVEL log_level",
                                           "command line --set qeue.policy=block qeue.policy",
                                           "command line --set queue.polcy=block queue.polcy",
                                           "command line --set device.boiler.seed=x device.boiler.seed",
                                           "command line --set device.boiler.seed=x device.boiler.driver"});
}

TEST_CASE("root may check a key file of another user, and gets a warning", "[gateway][check]") {
    const AnswerBench bench;
    const test::CurveFiles files;
    const std::string text = "[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n" + files.settings();
    CHECK_FALSE(has(bench.answer(text, Purpose::check, "text").errors, "owned by uid"));
    if (::chown(files.secret.c_str(), 12'345, 12'345) != 0) {
        return;  // only as root
    }
    const SettingsAnswer answer = bench.answer(text, Purpose::check, "text");
    CHECK(answer.exit_code == exit_code::ok);
    CHECK(has(answer.errors, "a.ini:3: curve_secret_key_file: " + files.secret +
                                 ": owned by uid 12345, checked as uid 0; the gateway must run as the owner\n"));
    CHECK_THROWS_AS(load_plan({.file = bench.path("a.ini")}), SettingsError);
}

TEST_CASE("a gateway without devices and endpoints gets a warning that it has nothing to do", "[gateway][check]") {
    const AnswerBench bench;
    const std::string warning = "no [device] and no [publish] section: the gateway has nothing to do";
    CHECK(has(bench.answer("", Purpose::check, "text").errors, warning));
    CHECK_FALSE(has(bench.answer("[device \"d\"]\ndriver = host\n", Purpose::check, "text").errors, warning));
}

TEST_CASE("REST without TCP needs no interface", "[gateway][check]") {
    CHECK(machine_texts("[rest]\nlisten =\n").empty());
}

TEST_CASE("a log file and a REST socket that cannot be created are reported", "[gateway][check]") {
    const ScratchDir scratch;
    std::ofstream(scratch.path("file")) << "";
    const auto texts_of = [](const std::string& log, const std::string& socket) {
        return machine_texts("[logging]\nfile = " + log + "\n[rest]\nunix_socket = " + socket + "\n");
    };
    CHECK(texts_of(scratch.path("log"), scratch.path("socket")).empty());
    CHECK(texts_of("stderr", "").empty());
    CHECK(texts_of(scratch.path("file"), "here").empty());
    CHECK(
        texts_of("/nope/x", "/nope/s") ==
        std::vector<std::string>{"t.ini:2: file: cannot create the file in /nope: No such file or directory",
                                 "t.ini:4: unix_socket: cannot create the socket in /nope: No such file or directory"});
    CHECK(texts_of(scratch.path("file/x"), scratch.path("file/s")).size() == 2);
    CHECK(texts_of(scratch.path(), scratch.path("file")) ==
          std::vector<std::string>{
              "t.ini:2: file: " + scratch.path() + " is not writable: Is a directory",
              "t.ini:4: unix_socket: cannot create the socket at " + scratch.path("file") + ": File exists"});
}

TEST_CASE("a local or wildcard address is not a problem", "[gateway][check]") {
    const auto* const host = GENERATE("127.0.0.1", "127.8.9.1", "0.0.0.0", "*", "[::]", "localhost", "lo");
    CAPTURE(host);
    CHECK(machine_texts(std::string("[publish \"a\"]\nendpoint = tcp://") + host + ":0\n").empty());
}

TEST_CASE("an address that no interface has is reported", "[gateway][check]") {
    // Addresses for documentation, RFC 5737 and RFC 3849.
    CHECK(machine_texts("[publish \"a\"]\nendpoint = tcp://203.0.113.77:0\n[publish \"b\"]\nendpoint = tcp://nic9:0\n"
                        "[publish \"c\"]\nendpoint = tcp://[2001:db8:0::1]:0\n[rest]\nlisten = 198.51.100.77:0\n") ==
          std::vector<std::string>{
              "t.ini:8: listen: no interface of this machine has the name or address 198.51.100.77",
              "t.ini:2: endpoint: no interface of this machine has the name or address 203.0.113.77",
              "t.ini:4: endpoint: no interface of this machine has the name or address nic9",
              "t.ini:6: endpoint: no interface of this machine has the name or address 2001:db8::1"});
}

TEST_CASE("a state file that cannot be created is reported", "[gateway][check]") {
    const ScratchDir scratch;
    std::filesystem::create_symlink("missing/state", scratch.path("link"));
    std::filesystem::create_symlink("real", scratch.path("good"));
    CHECK(machine_texts("state_file = " + scratch.path("link") + '\n') ==
          std::vector<std::string>{"t.ini:1: state_file: cannot create the file in " + scratch.path("missing") +
                                   ": No such file or directory"});
    CHECK(machine_texts("state_file = " + scratch.path() + '\n') ==
          std::vector<std::string>{"t.ini:1: state_file: " + scratch.path() + " exists but is not a regular file"});
    CHECK(machine_texts("state_file = " + scratch.path("good") + '\n').empty());
}

TEST_CASE("a folder in which no socket can be created is reported", "[gateway][check]") {
    const ScratchDir scratch;
    const auto texts_of = [](const std::string& path) {
        return machine_texts("[publish \"a\"]\nendpoint = ipc://" + path + "\n");
    };
    CHECK(texts_of(scratch.path("a")).empty());
    CHECK(texts_of("@abstract").empty());
    CHECK(texts_of("*").empty());
    CHECK(texts_of("here").empty());
    CHECK(texts_of(scratch.path("none/a")) ==
          std::vector<std::string>{"t.ini:2: endpoint: cannot create the socket in " + scratch.path("none") +
                                   ": No such file or directory"});
}

TEST_CASE("a check against the settings in force reports which changes need a restart", "[gateway][check]") {
    const AnswerBench bench;
    std::ofstream(bench.path("running.json")) << settings_json(parse_settings("queue_size = 7\n", "t.ini"));
    std::ofstream(bench.path("a.ini")) << "queue_size = 8\n[rest]\nlisten = 127.0.0.1:1\n";
    CommandLine line{.sources = {.file = bench.path("a.ini")}, .purpose = Purpose::check};
    line.against = bench.path("running.json");
    const SettingsAnswer answer = answer_settings(line);
    CHECK(answer.exit_code == exit_code::ok);
    CHECK(has(answer.output, "change: gateway.queue_size changed from \"7\" to \"8\": a reload applies it\n"));
    CHECK(has(answer.output,
              "change: rest.listen changed from \"127.0.0.1:8080\" to \"127.0.0.1:1\": needs a restart\n"));
    line.format = "json";
    const auto document = nlohmann::json::parse(answer_settings(line).output);
    REQUIRE(document["changes"].size() == 2);
    CHECK(document["changes"][1]["applies"] == "restart");
    std::ofstream(bench.path("a.ini")) << "queue_size = 7\n";
    line.format = "text";
    CHECK(has(answer_settings(line).output, "change: none\n"));
    line.against = "/nonexistent/x";
    CHECK(has(answer_settings(line).errors, "--against /nonexistent/x: cannot be read"));
}
