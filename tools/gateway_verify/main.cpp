// Proves that the stream of an uplink, or a log, is complete.
#include "gateway_log/commands.hpp"
#include "gateway_tail/console.hpp"
#include "verify_stream.hpp"

#include <iostream>

int main(int argc, char** argv) {
    using namespace telegate;
    tail::hold_standard_descriptors();
    std::ios::sync_with_stdio(false);
    const verify_tool::ParsedVerifyOptions parsed = verify_tool::parse_verify_options(argc, argv);
    const log_tool::Surroundings surroundings{store::real_file_system(), std::cout, std::cerr, "gateway_verify"};
    if (!parsed.options) {
        (parsed.exit_code == log_tool::exit_code::ok ? std::cout : std::cerr) << parsed.output << std::flush;
        return log_tool::guard(surroundings, [&] { return parsed.exit_code; });
    }
    const verify_tool::VerifyOptions& options = *parsed.options;
    const auto check_log = [&](const std::string& directory) {
        log_tool::LogOptions log;
        log.command = log_tool::Command::verify;
        log.directory = directory;
        log.json = options.json;
        return log;
    };
    return log_tool::guard(surroundings, [&] {
        if (!options.stream) {
            return log_tool::carry_out(check_log(options.directory), surroundings);
        }
        if (!options.expected_log.empty()) {
            log_tool::check_log(check_log(options.expected_log), surroundings);
        }
        return verify_tool::verify_stream(
            options, [&](const auto& each) { verify_tool::read_stream(*options.stream, each); }, surroundings);
    });
}
