// Prints the samples that a gateway publishes and recovers missed ones where possible.
#include "console.hpp"
#include "tail.hpp"
#include "tail_options.hpp"

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
    using namespace telegate::tail;
    hold_standard_descriptors();
    ParsedTailOptions parsed = parse_tail_options(argc, argv);
    if (!parsed.options) {
        (parsed.exit_code == exit_code::nothing_lost ? std::cout : std::cerr) << parsed.output << std::flush;
        if (parsed.exit_code == exit_code::nothing_lost && !std::cout) {
            say("cannot write the output");
            return exit_code::io_error;
        }
        return parsed.exit_code;
    }
    stop_signals::install();
    try {
        Tail tail(std::move(*parsed.options));
        return tail.run();
    } catch (const std::exception& error) {
        say(error.what());
        return exit_code::internal;
    }
}
