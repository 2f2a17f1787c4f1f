// Proves that the stream of an uplink, or a log, is complete.
#include "gateway_log/commands.hpp"
#include "gateway_tail/console.hpp"
#include "verify_stream.hpp"

#include <iostream>

int main(int argc, char** argv) {
    using namespace telegate;
    tail::hold_standard_descriptors();
    std::ios::sync_with_stdio(false);
    const log_tool::Surroundings surroundings{store::real_file_system(), std::cout, std::cerr, "gateway_verify"};
    const auto verify = [&](const verify_tool::VerifyOptions& options) {
        if (!options.stream) {
            log_tool::LogOptions log;
            log.directory = options.directory;
            log.json = options.json;
            return log_tool::verify(log, surroundings);
        }
        return verify_tool::verify_stream(
            options, [&](const auto& each) { verify_tool::read_stream(*options.stream, each); }, surroundings);
    };
    return log_tool::run(verify_tool::parse_verify_options(argc, argv), surroundings, verify);
}
