#include "command_line.hpp"
#include "config/load.hpp"
#include "exit_code.hpp"
#include "gateway.hpp"
#include "log.hpp"
#include "plan.hpp"
#include "settings_source.hpp"
#include "signals.hpp"

#include <poll.h>

#include <array>
#include <csignal>
#include <exception>
#include <iostream>
#include <system_error>

namespace {

using namespace telegate;

/// Waits for the first SIGINT or SIGTERM, stops in order, and cuts that short at the second one.
void run_until_stopped(Gateway& gateway, Signals& signals, const Log& log) {
    std::array<pollfd, 2> waiting{pollfd{signals.descriptor(), POLLIN, 0},
                                  pollfd{gateway.stopped_descriptor(), POLLIN, 0}};
    for (bool stopping = false; waiting[1].revents == 0;) {
        ::poll(waiting.data(), waiting.size(), -1);
        while (const auto signal = signals.take()) {
            if (*signal == SIGHUP) {
                gateway.live_settings().reload("SIGHUP");
                continue;
            }
            if (stopping) {
                return log.warn("second signal: stopping at once");
            }
            stopping = true;
            gateway.begin_stop();
        }
    }
}

int run(const CommandLine& command_line) {
    Signals signals;
    auto [settings, plan] = load_plan(command_line.config_path);
    override_settings(settings, command_line);
    if (command_line.check) {
        std::cout << command_line.config_path << ": no problems found\n";
        return exit_code::ok;
    }
    Log log(settings.log_level);
    Gateway gateway(settings, std::move(plan), log, source_of(command_line));
    gateway.start();
    run_until_stopped(gateway, signals, log);
    gateway.finish();
    return exit_code::ok;
}

}  // namespace

int main(int argc, char** argv) {
    const ParsedCommandLine parsed = parse_command_line(argc, argv);
    if (parsed.exit_code) {
        (*parsed.exit_code == exit_code::ok ? std::cout : std::cerr) << parsed.output;
        return *parsed.exit_code;
    }
    try {
        return run(parsed.command_line);
    } catch (const SettingsError& error) {
        std::cerr << error.what() << '\n';
        return exit_code::config;
    } catch (const std::system_error& error) {
        std::cerr << "telegate: cannot start: " << error.what() << '\n';
        return exit_code::of_start(error.code());
    } catch (const std::exception& error) {
        std::cerr << "telegate: " << error.what() << '\n';
        return exit_code::internal;
    }
}
