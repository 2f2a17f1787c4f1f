#include "app/command_line.hpp"

#include "config/problems.hpp"
#include "support/catch.hpp"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace telegate;
using telegate::test::has;

namespace {

ParsedCommandLine parse_arguments(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "gateway_app");
    const char* const environment[] = {"HOME=/root", "TELEGATE_LOG_LEVEL=a=b", "XTELEGATE_A=1",
                                       "TELEGATE_EMPTY=", nullptr};
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data(), environment);
}

}  // namespace

TEST_CASE("a settings file is enough to start", "[gateway][command_line]") {
    const ParsedCommandLine parsed = parse_arguments(
        GENERATE(std::vector{"--config", "a.ini"}, std::vector{"-c", "a.ini"}, std::vector{"--config=a.ini"}));
    CHECK_FALSE(parsed.exit_code.has_value());
    CHECK(parsed.command_line.sources.file == "a.ini");
    CHECK(parsed.command_line.purpose == Purpose::run);
    CHECK(parsed.command_line.sources.log_level.empty());
    CHECK(parsed.command_line.sources.assignments.empty());
}

TEST_CASE("the flags --check and --test mean the same", "[gateway][command_line]") {
    const ParsedCommandLine parsed = parse_arguments({"-c", "a.ini", GENERATE("--check", "--test")});
    CHECK_FALSE(parsed.exit_code.has_value());
    CHECK(parsed.command_line.purpose == Purpose::check);
    CHECK(parsed.command_line.format == "text");
}

TEST_CASE("the option --log-level sets the log level", "[gateway][command_line]") {
    const auto* const level = GENERATE("trace", "debug", "info", "warn", "error", "off");
    const ParsedCommandLine parsed = parse_arguments({"-c", "a.ini", "--log-level", level});
    CHECK_FALSE(parsed.exit_code.has_value());
    CHECK(parsed.command_line.sources.log_level == level);
}

TEST_CASE("an unknown log level is a usage error that lists the known levels", "[gateway][command_line]") {
    const ParsedCommandLine parsed = parse_arguments({"-c", "a.ini", "--log-level", GENERATE("loud", "INFO", "")});
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, "--log-level"));
    CHECK(has(parsed.output, "trace, debug, info, warn, error, off"));
}

TEST_CASE("an option does not take the next option as its value", "[gateway][command_line]") {
    const ParsedCommandLine parsed =
        parse_arguments({"-c", "a.ini", GENERATE("--config-dir=", "--set=", "--output="), "--check"});
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, "= has no value"));
}

TEST_CASE("without a settings file the gateway does not start, and the error shows an example",
          "[gateway][command_line]") {
    const ParsedCommandLine parsed =
        parse_arguments(GENERATE(std::vector<const char*>{}, std::vector{"--check"}, std::vector{"--config", ""}));
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, "--config FILE is required"));
    CHECK(has(parsed.output, "gateway_app --config /etc/telegate/gateway.ini"));
}

TEST_CASE("an unknown option is a usage error that names it", "[gateway][command_line]") {
    const auto* const word = GENERATE("--frobnicate", "-z", "a.ini", "--conf=a.ini");
    const ParsedCommandLine parsed = parse_arguments({"-c", "b.ini", word});
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, std::string(word).substr(0, 6)));
    CHECK(has(parsed.output, "gateway_app --help"));
}

TEST_CASE("a mistyped option is reported with the nearest known option", "[gateway][command_line]") {
    CHECK(has(parse_arguments({"--confg", "a.ini"}).output,
              "gateway_app: --confg: unknown option; did you mean --config?\n"));
    CHECK(has(parse_arguments({"--chek", "-c", "a.ini"}).output, "--chek: unknown option; did you mean --check?\n"));
    CHECK(has(parse_arguments({"-c", "a.ini", "--log-levl=info"}).output,
              "--log-levl: unknown option; did you mean --log-level?\n"));
    CHECK(has(parse_arguments({"-c", "a.ini", "--frobnicate"}).output, "--frobnicate: unknown option\n"));
    CHECK(has(parse_arguments({"-c", "a.ini", "b.ini"}).output, "unexpected argument \"b.ini\"\n"));
}

TEST_CASE("an option without value or given twice is a usage error that names it", "[gateway][command_line]") {
    const ParsedCommandLine parsed =
        parse_arguments(GENERATE(std::vector{"--config"}, std::vector{"-c", "a.ini", "--config", "b.ini"}));
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, "--config"));
}

TEST_CASE("a call without a program name is a usage error", "[gateway][command_line]") {
    const char* const none = nullptr;
    CHECK(parse_command_line(0, &none, &none).exit_code == exit_code::usage);
}

TEST_CASE("the flag --version prints name and version and exits", "[gateway][command_line]") {
    const ParsedCommandLine parsed = parse_arguments({"--version"});
    CHECK(parsed.exit_code == exit_code::ok);
    CHECK(parsed.output == "telegate 0.2.0\n");
}

TEST_CASE("the flag --help lists every option and exit code, with an example", "[gateway][command_line]") {
    const ParsedCommandLine parsed = parse_arguments({GENERATE("--help", "-h")});
    CHECK(parsed.exit_code == exit_code::ok);
    for (const char* const part : {"--config",
                                   "--config-dir",
                                   "--set",
                                   "--check",
                                   "--test",
                                   "--print-config[=FORMAT] ",
                                   "--read",
                                   "--count",
                                   "--health",
                                   "--output",
                                   "--log-level",
                                   "--version",
                                   "--help",
                                   "  0 ",
                                   "  64 ",
                                   "  66 ",
                                   "  69 ",
                                   "  70 ",
                                   "  71 ",
                                   "  74 ",
                                   "  77 ",
                                   "  78 ",
                                   "gateway_app --config /etc/telegate/gateway.ini"}) {
        CAPTURE(part);
        CHECK(has(parsed.output, part));
    }
}

TEST_CASE("the option --log-format sets the log format, and an unknown format is refused with the known ones",
          "[gateway][command_line]") {
    const auto* const format = GENERATE("text", "json");
    CHECK(parse_arguments({"-c", "a.ini", "--log-format", format}).command_line.sources.assignments ==
          std::vector{"logging.format=" + std::string(format)});
    const ParsedCommandLine parsed = parse_arguments({"-c", "a.ini", "--log-format", GENERATE("xml", "JSON", "")});
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, "--log-format"));
    CHECK(has(parsed.output, "text,json"));
}

TEST_CASE("variables that begin with TELEGATE_ are passed on as settings", "[gateway][command_line]") {
    const std::vector<std::pair<std::string, std::string>> expected{{"TELEGATE_LOG_LEVEL", "a=b"},
                                                                    {"TELEGATE_EMPTY", ""}};
    CHECK(parse_arguments({"-c", "a.ini"}).command_line.sources.environment == expected);
}

TEST_CASE("assignments and a folder of settings are passed on in order", "[gateway][command_line]") {
    const ParsedCommandLine parsed =
        parse_arguments({"--set", "a.b=c", "-c", "a.ini", "--set=d=e,f g", "--config-dir", "x.d", "--set", "h="});
    CHECK_FALSE(parsed.exit_code.has_value());
    CHECK(parsed.command_line.sources.assignments == std::vector<std::string>{"a.b=c", "d=e,f g", "h="});
    CHECK(parsed.command_line.sources.drop_in_folder == "x.d");
}

TEST_CASE("the settings can be printed in three formats, even without a file", "[gateway][command_line]") {
    const auto [option, format] = GENERATE(table<const char*, std::string>({{"--print-config", "text"},
                                                                            {"--print-config=text", "text"},
                                                                            {"--print-config=ini", "ini"},
                                                                            {"--print-config=json", "json"}}));
    for (const ParsedCommandLine& parsed : {parse_arguments({option}), parse_arguments({option, "-c", "a.ini"})}) {
        CHECK_FALSE(parsed.exit_code.has_value());
        CHECK(parsed.command_line.purpose == Purpose::print);
        CHECK(parsed.command_line.format == format);
    }
}

TEST_CASE("the output format can be JSON", "[gateway][command_line]") {
    CHECK(parse_arguments({"-c", "a.ini", "--check", "--output", "json"}).command_line.format == "json");
    CHECK(parse_arguments({"-c", "a.ini", "--check", "--output=text"}).command_line.format == "text");
    CHECK(parse_arguments({"-c", "a.ini", "--print-config", "--output", "json"}).command_line.format == "json");
}

TEST_CASE("the device to read and the number of readings are passed on", "[gateway][command_line]") {
    const CommandLine once = parse_arguments({"-c", "a.ini", "--read", "boiler"}).command_line;
    CHECK(once.purpose == Purpose::read);
    CHECK(once.read.device == "boiler");
    CHECK(once.read.count == 1);
    const CommandLine often =
        parse_arguments({"-c", "a.ini", "--read", "boiler", "--count", "12", "--output", "json"}).command_line;
    CHECK(often.read.count == 12);
    CHECK(often.format == "json");
}

TEST_CASE("the health of the running gateway can be requested", "[gateway][command_line]") {
    CHECK(parse_arguments({"-c", "a.ini", "--health"}).command_line.purpose == Purpose::health);
}

TEST_CASE("options that cannot be combined are a usage error with the reason", "[gateway][command_line]") {
    using Words = std::vector<const char*>;
    const auto [words, part] = GENERATE(table<Words, std::string>(
        {{Words{"-c", "a.ini", "--check", "--print-config"}, "--check and --print-config cannot be combined"},
         {Words{"--print-config=xml"}, "invalid --print-config format \"xml\": must be text, ini or json"},
         {Words{"-c", "a.ini", "--check", "--output", "xml"}, "invalid --output format \"xml\": must be text or json"},
         {Words{"-c", "a.ini", "--check", "--output", ""}, "invalid --output format \"\": must be text or json"},
         {Words{"-c", "a.ini", "--output", "json"}, "--output requires --check"},
         {Words{"--print-config=ini", "--output", "json"}, "--output requires --check"},
         {Words{"-c", "a.ini", "--read", "d", "--check"}, "--read and --check cannot be combined"},
         {Words{"-c", "a.ini", "--read", "d", "--print-config"}, "--read and --print-config cannot be combined"},
         {Words{"-c", "a.ini", "--count", "2"}, "--count requires --read"},
         {Words{"-c", "a.ini", "--read", "d", "--count", "0"}, "invalid --count \"0\": must be 1 to 1000000"},
         {Words{"-c", "a.ini", "--read", "d", "--count", "2x"}, "invalid --count \"2x\""},
         {Words{"-c", "a.ini", "--health", "--check"}, "--health and --check cannot be combined"},
         {Words{"--read", "d"}, "--config FILE is required"},
         {Words{"-c", "a.ini", "--set"}, "--set"}}));
    const ParsedCommandLine parsed = parse_arguments(words);
    CHECK(parsed.exit_code == exit_code::usage);
    CHECK(has(parsed.output, part));
}
