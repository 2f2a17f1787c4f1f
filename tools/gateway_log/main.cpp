// Inspects, checks, exports and repairs the log of a gateway.
#include "commands.hpp"
#include "gateway_tail/console.hpp"

#include <chrono>
#include <iostream>

int main(int argc, char** argv) {
    using namespace telegate;
    tail::hold_standard_descriptors();
    std::ios::sync_with_stdio(false);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const log_tool::ParsedLogOptions parsed =
        log_tool::parse_log_options(argc, argv, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    if (parsed.options) {
        return log_tool::run(*parsed.options, {store::real_file_system(), std::cout, std::cerr});
    }
    (parsed.exit_code == log_tool::exit_code::ok ? std::cout : std::cerr) << parsed.output << std::flush;
    if (!std::cout) {
        std::cerr << "gateway_log: cannot write the output\n";
        return log_tool::exit_code::io_error;
    }
    return parsed.exit_code;
}
