#include "app/activated_sockets.hpp"
#include "app/command_line.hpp"
#include "app/daemon.hpp"
#include "app/gateway.hpp"
#include "app/service_notify.hpp"
#include "base/exit_code.hpp"
#include "base/setting_failure.hpp"
#include "live/live_settings.hpp"
#include "log/log.hpp"
#include "log/log_line.hpp"
#include "plan/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <memory>
#include <system_error>

namespace {

using namespace telegate;

int answer(const CommandLine& command_line) {
    const SettingsAnswer answer = answer_settings(command_line);
    std::cerr << answer.errors;
    return write_out(std::cout, std::cerr, answer.output, answer.exit_code);
}

int run(const CommandLine& command_line) {
    Signals signals;  // before slow work, so that an early signal waits instead of killing the process
    LoadedPlan loaded = load_plan(command_line.sources);
    const LogOptions options = log_options(loaded.settings);
    const auto log_holder = get_for("[logging] file", options.file, [&] { return std::make_unique<Log>(options); });
    Log& log = *log_holder;
    std::for_each(loaded.warnings.begin(), loaded.warnings.end(),
                  [&](const auto& text) { log.warn(LogLine("settings").quote("warning", text)); });
    adopt_sockets(loaded.plan, log);
    ServiceNotify notify(log);
    Gateway gateway(loaded.settings, std::move(loaded.plan), log, source_of(command_line.sources));
    gateway.start();
    // Lives longer than finish(), because it ends a process that is stuck.
    Daemon service(gateway, signals, notify, log);
    service.run();
    gateway.finish();
    return exit_code::ok;
}

}  // namespace

int main(int argc, char** argv) {
    exit_code::exit_without_memory();
    try {
        const ParsedCommandLine parsed = parse_command_line(argc, argv, environ);
        if (parsed.exit_code) {
            if (*parsed.exit_code == exit_code::ok) {
                return write_out(std::cout, std::cerr, parsed.output, exit_code::ok);
            }
            std::cerr << parsed.output;
            return *parsed.exit_code;
        }
        const CommandLine& line = parsed.command_line;
        return line.purpose == Purpose::run      ? run(line)
               : line.purpose == Purpose::read   ? read_device(line, std::cout, std::cerr)
               : line.purpose == Purpose::health ? check_health(line, std::cout, std::cerr)
                                                 : answer(line);
    } catch (const SettingsError& error) {
        std::cerr << error.what() << '\n';
        return exit_code::of_settings(error);
    } catch (const std::system_error& error) {
        std::cerr << "telegate: cannot start: " << error.what() << '\n';
        return exit_code::of_start(error.code());
    } catch (const std::exception& error) {
        std::cerr << "telegate: " << error.what() << '\n';
        return exit_code::internal;
    }
}
