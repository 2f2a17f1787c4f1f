#pragma once

#include "device/driver.hpp"
#include "device/line_format.hpp"
#include "device/metric_rules.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

struct ExecDriverOptions {
    enum class Mode : std::uint8_t {
        once,        // run at each interval, to its end
        continuous,  // runs on, its lines are read as they come, and it is started again when it ends
    };
    std::string command;  // words, as split_command() takes them apart; with `shell` what /bin/sh is given
    bool shell = false;
    Mode mode = Mode::once;
    Duration timeout = std::chrono::seconds(5);  // once: for one run
    std::chrono::milliseconds silence_max{0};    // continuous: without a good line it is ended then; 0: never
    LineFormat lines;
    std::optional<MetricRules> json;  // lines are JSON and no `lines`
    LineLimits limits;
    std::size_t output_bytes_max = 1'048'576;  // once: of one run, together on both outputs
    std::string working_directory;             // "": the root directory
    std::vector<std::string> environment;      // NAME=VALUE, beside what every command has
    std::size_t memory_max_bytes = 0;          // of address space, for each process; 0: no limit
    std::uint32_t cpu_seconds_max = 0;         // of processor time, for each process; 0: no limit
};

/// A command whose output is lines with readings.
///
/// Threads: those of Driver; it has a thread of its own, which has to live as long as the command runs: the kernel
///          kills the command when that thread ends. `continuous` streams.
/// Limits:  those of the options. A command that is to end has 500 ms after SIGTERM, then it is killed, with all of its
///          process group.
/// Failure: std::invalid_argument for bad options. Everything else is a failed read: a command that cannot be started,
///          takes too long, prints too much, ends with a status or by a signal, or whose lines are all refused. In mode
///          continuous every end is one, and so is a silence that lasts too long, which ends it; it is started again
///          after 1 s, doubled up to 60 s, by a quarter more or less. The destructor ends the command and waits for
///          that, a second at most.
[[nodiscard]] std::unique_ptr<Driver> make_exec_driver(ExecDriverOptions options);

}  // namespace telegate
