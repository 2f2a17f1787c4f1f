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
    return log_tool::run(
        log_tool::parse_log_options(argc, argv, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()),
        {store::real_file_system(), std::cout, std::cerr});
}
