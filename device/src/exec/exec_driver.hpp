#pragma once

#include "device/driver.hpp"
#include "lines/line_format.hpp"
#include "metrics/given_time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// Also the settings of a device with the driver exec, which limit the values.
struct ExecDriverOptions {
    enum class Mode : std::uint8_t {
        once,        // run to its end at each interval
        continuous,  // kept running, its lines are read as they arrive, restarted when it exits
    };
    std::string command;  // split into words by split_command(); with `shell` passed to /bin/sh
    bool shell = false;
    Mode mode = Mode::once;
    Duration timeout = std::chrono::seconds(5);  // once: limit for one run
    // continuous: ended after this time without a valid line; 0: never
    std::chrono::milliseconds silence_max{0};
    LineFormat lines;
    std::optional<MetricRules> json;  // set: the lines are JSON, and `lines` is not used
    LineLimits limits;
    std::size_t output_bytes_max = 1'048'576;  // once: limit for one run, both outputs together
    std::string working_directory = "/";
    std::vector<std::string> environment;  // NAME=VALUE, in addition to the inherited variables
    std::uint64_t memory_max_bytes = 0;    // address space of each process; 0: no limit
    std::uint32_t cpu_seconds_max = 0;     // CPU time of each process; 0: no limit
};

/// Creates a driver that runs a command and reads samples from the lines of its output.
///
/// Threads: those of Driver, with its own thread. That thread must live as long as the command, because the kernel
/// kills the command when the thread exits. `continuous` streams.
/// Limits: those of the options. A command gets SIGTERM to end it, and 500 ms later its whole process group is killed.
/// Failure: std::invalid_argument for invalid options. Everything else is a failed reading: the command cannot be
/// started, runs too long, prints too much, exits with a status or by a signal, or all of its lines are refused. In
/// mode continuous every exit is a failed reading, and a silence that is too long ends the command. The command is
/// restarted after 1 s, doubling up to 60 s, with a jitter of a quarter. The destructor ends the command and waits for
/// it for at most one second.
[[nodiscard]] std::unique_ptr<Driver> make_exec_driver(ExecDriverOptions options);

}  // namespace telegate
