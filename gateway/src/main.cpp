#include "activated_sockets.hpp"
#include "command_line.hpp"
#include "config/load.hpp"
#include "exit_code.hpp"
#include "gateway.hpp"
#include "log.hpp"
#include "plan.hpp"
#include "service.hpp"
#include "service_notify.hpp"
#include "signals.hpp"

#include <exception>
#include <iostream>
#include <system_error>

namespace {

using namespace telegate;

int run(const CommandLine& command_line, Signals& signals) {
    auto [settings, plan] = load_plan(command_line.config_path);
    if (!command_line.log_level.empty()) {
        override_log_level(settings, command_line.log_level, "--log-level");
    }
    if (!command_line.log_format.empty()) {
        settings.log_format = command_line.log_format;
    }
    if (command_line.check) {
        std::cout << command_line.config_path << ": no problems found\n";
        return exit_code::ok;
    }
    Log log(log_options(settings));
    ServiceNotify notify(log);
    {
        ActivatedSockets sockets(log);
        hand_over(sockets, plan);
    }
    Gateway gateway(settings, std::move(plan), log);
    gateway.start();
    Service service(gateway, signals, log, [&log] { log.info("SIGHUP ignored: settings are read at start only"); });
    service.run(notify);
    gateway.finish();
    return exit_code::ok;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Signals signals;  // before all else, so that an early one waits instead of killing
        const ParsedCommandLine parsed = parse_command_line(argc, argv);
        if (parsed.exit_code) {
            (*parsed.exit_code == exit_code::ok ? std::cout : std::cerr) << parsed.output;
            return *parsed.exit_code;
        }
        return run(parsed.command_line, signals);
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
