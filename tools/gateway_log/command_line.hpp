#pragma once

#include "gateway_tail/sample_text.hpp"
#include "log_options.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <span>
#include <string>

/// The parts that the command lines of gateway_log and gateway_verify have in common. Threads: one. Failure:
/// std::bad_alloc.
namespace telegate::log_tool {

/// Sets the name of the program, and adds --version and --help.
inline void set_up(CLI::App& app, const char* program) {
    app.name(program);
    app.set_version_flag("--version", "telegate " TELEGATE_VERSION, "Print the version and exit");
    app.set_help_flag("-h,--help", "Print this help and exit");
}

/// Returns the list of exit codes in --help.
inline std::string exit_codes_text(std::span<const exit_code::Meaning> meanings) {
    std::string text = "Exit codes:\n";
    for (const exit_code::Meaning& meaning : meanings) {
        const std::string code = std::to_string(meaning.code);
        text.append("  ").append(code).append(4 - code.size(), ' ').append(meaning.words).append("\n");
    }
    return text;
}

/// Parses the command line. `read` then returns the options; it throws std::invalid_argument for invalid values.
template <class Read>
auto parse_command_line(CLI::App& app, int argc, const char* const* argv, const Read& read)
    -> Parsed<decltype(read())> {
    try {
        app.parse(argc, argv);
        return {.options = read(), .exit_code = exit_code::ok, .output = ""};
    } catch (const CLI::CallForHelp&) {
        return {.options = {}, .exit_code = exit_code::ok, .output = app.help()};
    } catch (const CLI::CallForVersion&) {
        return {.options = {}, .exit_code = exit_code::ok, .output = "telegate " TELEGATE_VERSION "\n"};
    } catch (const std::exception& error) {
        std::string text = app.get_name() + ": ";
        tail::append_printable(text, error.what());
        return {.options = {},
                .exit_code = exit_code::usage,
                .output = text + "\nTry '" + app.get_name() + " --help' for more information.\n"};
    }
}

}  // namespace telegate::log_tool
