#include "command_line.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace telegate;

namespace {

ParsedCommandLine parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "gateway_app");
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a settings file is enough to start", "[gateway][command_line]") {
    const ParsedCommandLine parsed =
        parse(GENERATE(std::vector{"--config", "a.ini"}, std::vector{"-c", "a.ini"}, std::vector{"--config=a.ini"}));
    CHECK_FALSE(parsed.exit_code.has_value());
    CHECK(parsed.command_line.config_path == "a.ini");
    CHECK_FALSE(parsed.command_line.check);
    CHECK(parsed.command_line.log_level.empty());
}

TEST_CASE("the flags --check and --test mean the same", "[gateway][command_line]") {
    const ParsedCommandLine parsed = parse({"-c", "a.ini", GENERATE("--check", "--test")});
    CHECK_FALSE(parsed.exit_code.has_value());
    CHECK(parsed.command_line.check);
}

TEST_CASE("a log level is passed on", "[gateway][command_line]") {
    const auto* const level = GENERATE("trace", "debug", "info", "warn", "error", "off");
    const ParsedCommandLine parsed = parse({"-c", "a.ini", "--log-level", level});
    CHECK_FALSE(parsed.exit_code.has_value());
    CHECK(parsed.command_line.log_level == level);
}

TEST_CASE("a log level that does not exist is a usage error that lists those that do", "[gateway][command_line]") {
    const ParsedCommandLine parsed = parse({"-c", "a.ini", "--log-level", GENERATE("loud", "INFO", "")});
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, "--log-level"));
    CHECK(has(parsed.output, "trace, debug, info, warn, error, off"));
}

TEST_CASE("without a settings file the gateway does not start, and shows how", "[gateway][command_line]") {
    const ParsedCommandLine parsed =
        parse(GENERATE(std::vector<const char*>{}, std::vector{"--check"}, std::vector{"--config", ""}));
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, "--config FILE is needed"));
    CHECK(has(parsed.output, "gateway_app --config /etc/telegate/gateway.ini"));
}

TEST_CASE("what is not an option is a usage error that names it", "[gateway][command_line]") {
    const auto* const word = GENERATE("--frobnicate", "-z", "a.ini", "--conf=a.ini");
    const ParsedCommandLine parsed = parse({"-c", "b.ini", word});
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, std::string(word).substr(0, 6)));
    CHECK(has(parsed.output, "gateway_app --help"));
}

TEST_CASE("an option without its value or given twice is a usage error that names it", "[gateway][command_line]") {
    const ParsedCommandLine parsed =
        parse(GENERATE(std::vector{"--config"}, std::vector{"-c", "a.ini", "--config", "b.ini"}));
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, "--config"));
}

TEST_CASE("a call without even a program name is a usage error", "[gateway][command_line]") {
    const char* const none = nullptr;
    CHECK(parse_command_line(0, &none).exit_code == exit_code::usage);
}

TEST_CASE("the flag --version prints name and version and leaves", "[gateway][command_line]") {
    const ParsedCommandLine parsed = parse({"--version"});
    CHECK(parsed.exit_code == exit_code::ok);
    CHECK(parsed.output == "telegate 0.1.0\n");
}

TEST_CASE("the flag --help names every option and exit code, with an example", "[gateway][command_line]") {
    const ParsedCommandLine parsed = parse({GENERATE("--help", "-h")});
    CHECK(parsed.exit_code == exit_code::ok);
    for (const char* const part :
         {"--config", "--check", "--test", "--log-level", "--version", "--help", "  0 ", "  64 ", "  69 ", "  70 ",
          "  78 ", "gateway_app --config /etc/telegate/gateway.ini"}) {
        CAPTURE(part);
        CHECK(has(parsed.output, part));
    }
}

TEST_CASE("a log format is passed on, and one that does not exist is refused with those that do",
          "[gateway][command_line]") {
    const auto* const format = GENERATE("text", "json");
    CHECK(parse({"-c", "a.ini", "--log-format", format}).command_line.log_format == format);
    const ParsedCommandLine parsed = parse({"-c", "a.ini", "--log-format", GENERATE("xml", "JSON", "")});
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, "--log-format"));
    CHECK(has(parsed.output, "text,json"));
}
