#include "device/exec_driver.hpp"
#include "plan/drivers.hpp"
#include "plan/line_format_plan.hpp"
#include "plan/metric_rules_plan.hpp"

#include <chrono>
#include <utility>

namespace telegate {

std::unique_ptr<Driver> make_exec(const DeviceSettings& device, DeviceChannels /*channels*/) {
    using Mode = ExecDriverOptions::Mode;
    const ExecSettings& from = device.exec;
    ExecDriverOptions options;
    options.command = from.command;
    options.shell = from.shell;
    options.mode = from.mode == "continuous" ? Mode::continuous : Mode::once;
    options.timeout = std::chrono::milliseconds(from.timeout_ms);
    options.silence_max = std::chrono::milliseconds(from.silence_ms);
    options.lines = to_line_format(from);
    if (from.format == "json") {
        options.json = to_metric_rules(from);
    }
    options.limits.line_bytes_max = static_cast<std::size_t>(from.line_bytes_max);
    options.limits.channels_max = static_cast<std::size_t>(from.channels_max);
    options.output_bytes_max = static_cast<std::size_t>(from.output_bytes_max);
    options.working_directory = from.working_directory;
    options.environment = from.environment;
    options.memory_max_bytes = static_cast<std::size_t>(from.memory_max_bytes);
    options.cpu_seconds_max = static_cast<std::uint32_t>(from.cpu_seconds_max);
    return make_exec_driver(std::move(options));
}

}  // namespace telegate
