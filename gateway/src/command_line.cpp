#include "command_line.hpp"

#include "config/load.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace telegate {
namespace {

constexpr const char* program = "gateway_app";
constexpr const char* example = "gateway_app --config /etc/telegate/gateway.ini";

std::string footer() {
    return std::string("Exit codes:\n") +
           "  0   stopped as asked, or the settings passed --check\n"
           "  64  the command line is wrong\n"
           "  69  an address or the log file cannot be had, for example because the address is taken\n"
           "  70  an internal error\n"
           "  71  the system is out of something, such as descriptors\n"
           "  78  the settings file is missing or wrong; each problem is shown as file:line: key: ...\n\n"
           "Example:\n  " +
           example;
}

ParsedCommandLine leave(int code, std::string output) {
    return {.command_line = {}, .exit_code = code, .output = std::move(output) + "\n"};
}

ParsedCommandLine refuse(const std::string& what) {
    return leave(exit_code::usage,
                 std::string(program) + ": " + what + "\nExample: " + example + "\nAll options: gateway_app --help");
}

/// CLI11 takes arguments from the back, without the name of the program.
std::vector<std::string> reversed_arguments(int argc, const char* const* argv) {
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    std::reverse(arguments.begin(), arguments.end());
    return arguments;
}

}  // namespace

ParsedCommandLine parse_command_line(int argc, const char* const* argv) {
    CommandLine line;
    CLI::App app("Telegate, a telemetry gateway: samples devices and publishes to any ZeroMQ subscriber.", program);
    app.footer(footer());
    app.set_version_flag("--version", "telegate " TELEGATE_VERSION, "Print the version and leave");
    app.set_help_flag("-h,--help", "Print this and leave");
    app.add_option("-c,--config", line.config_path, "The settings file; needed")->type_name("FILE");
    app.add_flag("--check,--test", line.check, "Check the settings file and leave");
    const CLI::Option* const level =
        app.add_option("--log-level", line.log_level, "One of " + log_level_choices() + "; wins over the file")
            ->type_name("LEVEL");
    app.add_option("--log-format", line.log_format, "text or json; wins over the file")
        ->check(CLI::IsMember({"text", "json"}))
        ->type_name("FORMAT");
    try {
        app.parse(reversed_arguments(argc, argv));
    } catch (const CLI::CallForHelp&) {
        return leave(exit_code::ok, app.help());
    } catch (const CLI::CallForVersion&) {
        return leave(exit_code::ok, app.version());
    } catch (const CLI::ParseError& error) {
        return refuse(error.what());
    }
    if (line.config_path.empty()) {
        return refuse("--config FILE is needed: the gateway does not start on settings that nobody gave");
    }
    if (level->count() > 0 && !is_log_level(line.log_level)) {
        return refuse("--log-level: \"" + line.log_level + "\" is not a log level, allowed: " + log_level_choices());
    }
    return {.command_line = std::move(line), .exit_code = std::nullopt, .output = ""};
}

}  // namespace telegate
