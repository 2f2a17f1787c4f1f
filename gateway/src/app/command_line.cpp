#include "app/command_line.hpp"

#include "config/load.hpp"
#include "config/nearest_name.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace telegate {
namespace {

constexpr const char* program = "gateway_app";
constexpr const char* example = "gateway_app --config /etc/telegate/gateway.ini";

std::string footer() {
    return std::string(
               "Settings: defaults, then the file, DIR/*.ini, variables TELEGATE_SECTION_KEY, --set; the last wins.\n\n"
               "Exit codes:\n"
               "  0   stopped as asked, or the settings have no problem\n"
               "  64  the command line is wrong\n"
               "  66  a settings file is missing or cannot be read\n"
               "  69  an address or the log file cannot be had, for example because the address is taken;\n"
               "      or --read could not read the device\n"
               "  70  an internal error\n"
               "  71  the system is out of something, such as descriptors\n"
               "  74  what was asked for cannot be written to stdout\n"
               "  77  the system does not permit it to this user\n"
               "  78  the settings have problems; each is shown as file:line: key: ...\n\n"
               "Example:\n  ") +
           example;
}

ParsedCommandLine leave(int code, std::string output) {
    return {.command_line = {}, .exit_code = code, .output = std::move(output) + "\n"};
}

ParsedCommandLine refuse_command_line(const std::string& what) {
    return leave(exit_code::usage,
                 std::string(program) + ": " + what + "\nExample: " + example + "\nAll options: gateway_app --help");
}

/// What stands on the command line and is no option, in words. CLI11 names all of it, in no order to speak of.
std::string stray_text(const CLI::App& app) {
    const std::vector<std::string> strays = app.remaining();
    const auto is_option = [](const std::string& text) {
        return text.starts_with('-');
    };
    const auto option = std::find_if(strays.begin(), strays.end(), is_option);
    if (option == strays.end()) {
        return strays.empty() ? "an argument is not expected" : "\"" + strays.front() + "\" is not expected here";
    }
    std::vector<std::string> known;
    for (const CLI::Option* const each : app.get_options()) {
        for (const std::string& name : each->get_lnames()) {
            known.push_back("--" + name);
        }
    }
    const std::vector<std::string_view> names(known.begin(), known.end());
    const std::string given = option->substr(0, option->find('='));
    const std::string_view near = nearest_name(given, names);
    return given + " is not an option" + (near.empty() ? "" : ", did you mean " + std::string(near) + "?");
}

/// The first option that ends in "=", which CLI11 would give the argument behind it; "" for none.
std::string option_without_value(int argc, const char* const* argv) {
    const auto* const found = std::find_if(argv + std::min(argc, 1), argv + argc, [](std::string_view argument) {
        return argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    });
    return found == argv + argc ? "" : *found;
}

/// CLI11 takes arguments from the back, without the name of the program.
std::vector<std::string> reversed_arguments(int argc, const char* const* argv) {
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    std::reverse(arguments.begin(), arguments.end());
    return arguments;
}

/// CLI11 has a notation of its own for an option that may have a value.
std::string help_text(const CLI::App& app) {
    constexpr std::string_view own = "--print-config{text}   ";
    std::string text = app.help();
    const std::size_t at = text.find(own);
    return at == std::string::npos ? text : text.replace(at, own.size(), "--print-config[=FORMAT]");
}

/// What CLI11 fills.
struct Options {
    CommandLine line;
    bool check = false;
    std::string print;  // "" when not asked for
    std::string output;
    std::string count;
    std::string log_format;
};

void add_options(CLI::App& app, Options& options) {
    SettingsSources& sources = options.line.sources;
    app.footer(footer());
    app.set_version_flag("--version", "telegate " TELEGATE_VERSION, "Print the version and leave");
    app.set_help_flag("-h,--help", "Print this and leave");
    app.add_option("-c,--config", sources.file, "The settings file; needed to run")->type_name("FILE");
    app.add_option("--config-dir", sources.drop_in_folder,
                   "Where more settings files are; conf.d beside FILE if not given")
        ->type_name("DIR");
    app.add_option("--set", sources.assignments, "One setting, SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE; repeatable")
        ->type_name("ASSIGNMENT")
        ->expected(1)
        ->take_all();
    app.add_option("--log-level", sources.log_level, "One of " + log_level_choices() + "; wins over all else")
        ->type_name("LEVEL");
    app.add_option("--log-format", options.log_format, "text or json; the same as --set log.format=FORMAT")
        ->check(CLI::IsMember({"text", "json"}))
        ->type_name("FORMAT");
    app.add_flag("--check,--test", options.check, "Check the settings as a start would and leave");
    app.add_option(
           "--against", options.line.against,
           "With --check: what differs from settings that GET /config gave, and what needs a restart; - is stdin")
        ->type_name("FILE");
    app.add_flag(
        "--print-config{text}", options.print,
        "Print every setting with where it was given and leave; FORMAT is text, ini (a file with explanations) "
        "or json");
    app.add_option("--read", options.line.read.device,
                   "Read one device without starting the gateway, print its channels and leave")
        ->type_name("DEVICE");
    app.add_option("--count", options.count,
                   "How many readings --read makes, at the interval of the device; 1 if not given")
        ->type_name("N");
    app.add_option("--output", options.output, "How --check, --print-config and --read answer: text or json")
        ->type_name("FORMAT");
}

std::optional<std::uint64_t> to_count(const std::string& text) {
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const bool is_whole = error == std::errc{} && end == text.data() + text.size();
    return is_whole && count >= 1 && count <= ReadRequest::count_max ? std::optional(count) : std::nullopt;
}

/// What is wrong with a command line that CLI11 has taken; "" when nothing is.
std::string fault_of(const CLI::App& app, const Options& options) {
    const SettingsSources& sources = options.line.sources;
    const bool prints = !options.print.empty();
    const bool reads = app.count("--read") > 0;
    if (options.check && prints) {
        return "--check and --print-config: allowed is one of the two";
    }
    if (reads && (options.check || prints)) {
        return "--read and " + std::string(prints ? "--print-config" : "--check") + ": allowed is one of the two";
    }
    if (app.count("--count") > 0 && !reads) {
        return "--count belongs to --read";
    }
    if (app.count("--count") > 0 && !to_count(options.count)) {
        return "--count: \"" + options.count + "\" is not a count, allowed: 1 to " +
               std::to_string(ReadRequest::count_max);
    }
    if (prints && options.print != "text" && options.print != "ini" && options.print != "json") {
        return "--print-config: \"" + options.print + "\" is not a format, allowed: text, ini, json";
    }
    if (app.count("--output") > 0 && options.output != "text" && options.output != "json") {
        return "--output: \"" + options.output + "\" is not a format, allowed: text, json";
    }
    if (app.count("--output") > 0 && !options.check && !reads && options.print != "text") {
        return "--output belongs to --check, to --read, or to --print-config without a format of its own";
    }
    if (app.count("--against") > 0 && (!options.check || options.line.against.empty())) {
        return "--against FILE belongs to --check: FILE is what GET /config gave, - is stdin";
    }
    if (sources.file.empty() && (!prints || app.count("--config") > 0)) {
        return "--config FILE is needed: the gateway does not start on settings that nobody gave";
    }
    if (app.count("--log-level") > 0 && !is_log_level(sources.log_level)) {
        return "--log-level: \"" + sources.log_level + "\" is not a log level, allowed: " + log_level_choices();
    }
    return "";
}

/// The variables that may be settings.
std::vector<std::pair<std::string, std::string>> settings_variables(const char* const* environment) {
    std::vector<std::pair<std::string, std::string>> variables;
    for (; *environment != nullptr; ++environment) {
        const std::string_view variable = *environment;
        if (const std::size_t sign = variable.find('='); variable.starts_with("TELEGATE_") && sign < variable.size()) {
            variables.emplace_back(variable.substr(0, sign), variable.substr(sign + 1));
        }
    }
    return variables;
}

}  // namespace

ParsedCommandLine parse_command_line(int argc, const char* const* argv, const char* const* environment) {
    if (const std::string option = option_without_value(argc, argv); !option.empty()) {
        return refuse_command_line(option + " has no value");
    }
    Options options;
    CLI::App app("Telegate, a telemetry gateway: samples devices and publishes to any ZeroMQ subscriber.", program);
    add_options(app, options);
    try {
        app.parse(reversed_arguments(argc, argv));
    } catch (const CLI::CallForHelp&) {
        return leave(exit_code::ok, help_text(app));
    } catch (const CLI::CallForVersion&) {
        return leave(exit_code::ok, app.version());
    } catch (const CLI::ExtrasError&) {
        return refuse_command_line(stray_text(app));
    } catch (const CLI::ParseError& error) {
        return refuse_command_line(error.what());
    }
    if (const std::string fault = fault_of(app, options); !fault.empty()) {
        return refuse_command_line(fault);
    }
    CommandLine& line = options.line;
    if (!options.log_format.empty()) {
        line.sources.assignments.push_back("log.format=" + options.log_format);
    }
    line.sources.environment = settings_variables(environment);
    line.read.count = to_count(options.count).value_or(1);
    line.purpose = options.check             ? Purpose::check
                   : !options.print.empty()  ? Purpose::print
                   : app.count("--read") > 0 ? Purpose::read
                                             : Purpose::run;
    line.format = !options.output.empty() ? options.output : options.print.empty() ? "text" : options.print;
    return {.command_line = std::move(line), .exit_code = std::nullopt, .output = ""};
}

}  // namespace telegate
