#include "app/command_line.hpp"

#include "config/load.hpp"
#include "config/nearest_name.hpp"
#include "config/setting_rules.hpp"
#include "core/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {
namespace {

constexpr const char* program = "gateway_app";
constexpr const char* example = "gateway_app --config /etc/telegate/gateway.ini";

std::string footer() {
    return std::string(
               "Settings sources: defaults, FILE, DIR/*.ini, variables TELEGATE_SECTION_KEY, --set;\n"
               "later sources override earlier ones.\n\n"
               "Exit codes:\n"
               "  0   stopped cleanly, or the settings are valid\n"
               "  64  invalid command line\n"
               "  66  a settings file is missing or cannot be read\n"
               "  69  an address cannot be bound or the log file cannot be opened, for example because it is in use;\n"
               "      or the device of --read cannot be read, or the gateway of --health is not ready\n"
               "  70  internal error\n"
               "  71  other system error, such as no free descriptors, or out of memory\n"
               "  74  the output cannot be written to stdout\n"
               "  77  permission denied by the system\n"
               "  78  invalid settings; each problem is printed as file:line: key: ...\n\n"
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

/// Returns an error text for arguments that are not options. CLI11 lists all of them in unspecified order.
std::string stray_text(const CLI::App& app) {
    const std::vector<std::string> strays = app.remaining();
    const auto is_option = [](const std::string& text) {
        return text.starts_with('-');
    };
    const auto option = std::find_if(strays.begin(), strays.end(), is_option);
    if (option == strays.end()) {
        return strays.empty() ? "unexpected argument" : "unexpected argument \"" + strays.front() + "\"";
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
    return given + ": unknown option" + (near.empty() ? "" : "; did you mean " + std::string(near) + "?");
}

/// Returns the first option that ends in "="; "" for none. CLI11 would take the next argument as its value.
std::string option_without_value(int argc, const char* const* argv) {
    const auto* const found = std::find_if(argv + std::min(argc, 1), argv + argc, [](std::string_view argument) {
        return argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    });
    return found == argv + argc ? "" : *found;
}

/// Returns the arguments in reverse order without the program name, as CLI11 expects them.
std::vector<std::string> reversed_arguments(int argc, const char* const* argv) {
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    std::reverse(arguments.begin(), arguments.end());
    return arguments;
}

/// Replaces CLI11's notation for an option with an optional value.
std::string help_text(const CLI::App& app) {
    constexpr std::string_view own = "--print-config{text}   ";
    std::string text = app.help();
    const std::size_t at = text.find(own);
    return at == std::string::npos ? text : text.replace(at, own.size(), "--print-config[=FORMAT]");
}

/// The variables that CLI11 fills.
struct Options {
    CommandLine line;
    bool check = false;
    bool health = false;
    std::string print;  // "": not requested
    std::string output;
    std::string count;
    std::string log_format;
};

void add_options(CLI::App& app, Options& options) {
    SettingsSources& sources = options.line.sources;
    app.footer(footer());
    app.set_version_flag("--version", "telegate " TELEGATE_VERSION, "Print the version and exit");
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.add_option("-c,--config", sources.file, "Settings file; required to run")->type_name("FILE");
    app.add_option("--config-dir", sources.drop_in_folder,
                   "Directory with additional settings files; default: conf.d next to FILE")
        ->type_name("DIR");
    app.add_option("--set", sources.assignments, "Set SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE; repeatable")
        ->type_name("ASSIGNMENT")
        ->expected(1)
        ->take_all();
    app.add_option("--log-level", sources.log_level,
                   "Minimum severity of log lines, " + log_level_choices() + "; overrides all other sources")
        ->type_name("LEVEL");
    app.add_option("--log-format", options.log_format, "text or json; same as --set logging.format=FORMAT")
        ->check(CLI::IsMember(rules::log_formats))
        ->type_name("FORMAT");
    app.add_flag("--check,--test", options.check, "Check the settings as at start-up, then exit");
    app.add_option("--against", options.line.against,
                   "With --check: list the differences from settings returned by GET /config, and which of "
                   "them need a restart; - is stdin")
        ->type_name("FILE");
    app.add_flag("--print-config{text}", options.print,
                 "Print every setting and its source, then exit; FORMAT is text, ini (a file with comments) "
                 "or json");
    app.add_option("--read", options.line.read.device,
                   "Read one device without starting the gateway, print its channels, then exit")
        ->type_name("DEVICE");
    app.add_option("--count", options.count,
                   "Number of readings with --read, at the interval of the device; default: 1")
        ->type_name("N");
    app.add_flag("--health", options.health, "Print the health of the running gateway; exit code 0 if it is ready");
    app.add_option("--output", options.output, "Output format of --check, --print-config and --read: text or json")
        ->type_name("FORMAT");
}

std::optional<std::uint64_t> to_count(const std::string& text) {
    const auto count = parse_number<std::uint64_t>(text);
    return count && *count >= 1 && *count <= ReadRequest::count_max ? count : std::nullopt;
}

/// Checks the options that CLI11 accepted. Returns an error text; "" if they are valid.
std::string fault_of(const CLI::App& app, const Options& options) {
    const SettingsSources& sources = options.line.sources;
    const bool prints = !options.print.empty();
    const bool reads = app.count("--read") > 0;
    std::string purposes;
    for (const auto& [is_given, name] : {std::pair{reads, "--read"},
                                         {options.health, "--health"},
                                         {options.check, "--check"},
                                         {prints, "--print-config"}}) {
        if (is_given && !purposes.empty()) {
            return purposes + " and " + name + " cannot be combined";
        }
        purposes = is_given ? name : purposes;
    }
    if (app.count("--count") > 0 && !reads) {
        return "--count requires --read";
    }
    if (app.count("--count") > 0 && !to_count(options.count)) {
        return "invalid --count \"" + options.count + "\": must be 1 to " + std::to_string(ReadRequest::count_max);
    }
    if (prints && options.print != "text" && options.print != "ini" && options.print != "json") {
        return "invalid --print-config format \"" + options.print + "\": must be text, ini or json";
    }
    if (app.count("--output") > 0 && options.output != "text" && options.output != "json") {
        return "invalid --output format \"" + options.output + "\": must be text or json";
    }
    if (app.count("--output") > 0 && !options.check && !reads && options.print != "text") {
        return "--output requires --check, --read, or --print-config without a format";
    }
    if (app.count("--against") > 0 && (!options.check || options.line.against.empty())) {
        return "--against FILE requires --check: FILE is the output of GET /config, - is stdin";
    }
    if (sources.file.empty() && (!prints || app.count("--config") > 0)) {
        return "--config FILE is required: the gateway does not start without a settings file";
    }
    if (app.count("--log-level") > 0 && !is_log_level(sources.log_level)) {
        return "invalid --log-level \"" + sources.log_level + "\": must be " + log_level_choices();
    }
    return "";
}

/// Returns the environment variables that may be settings.
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
    CLI::App app("Telegate, a telemetry gateway: samples devices and publishes to ZeroMQ subscribers.", program);
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
        line.sources.assignments.push_back("logging.format=" + options.log_format);
    }
    line.sources.environment = settings_variables(environment);
    line.read.count = to_count(options.count).value_or(1);
    line.purpose = options.check             ? Purpose::check
                   : !options.print.empty()  ? Purpose::print
                   : app.count("--read") > 0 ? Purpose::read
                   : options.health          ? Purpose::health
                                             : Purpose::run;
    line.format = !options.output.empty() ? options.output : options.print.empty() ? "text" : options.print;
    return {.command_line = std::move(line), .exit_code = std::nullopt, .output = ""};
}

}  // namespace telegate
