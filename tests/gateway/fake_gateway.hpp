#pragma once

#include "rest_server.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace telegate::test {

/// Two devices, "host" and "boiler", that take commands as the sampler does. Threads: any.
class FakeGateway {
  public:
    RestHandlers handlers() {
        RestHandlers handlers;
        handlers.snapshot = [this] {
            return answering ? std::optional(StatusSnapshot{}) : std::nullopt;
        };
        handlers.devices = [] {
            return std::vector<std::string>{"host", "boiler"};
        };
        handlers.command = [this](std::string_view device, DeviceCommand command) {
            return answering ? std::optional(obey(device, command)) : std::nullopt;
        };
        return handlers;
    }

    void put(const std::string& device, DeviceState state) {
        const std::lock_guard lock(mutex_);
        states_[device] = state;
    }
    DeviceState state(const std::string& device) {
        const std::lock_guard lock(mutex_);
        return states_[device];
    }

    std::atomic<bool> answering{true};

  private:
    CommandResult obey(std::string_view device, DeviceCommand command) {
        const std::lock_guard lock(mutex_);
        DeviceState& state = states_[std::string(device)];
        if (command == DeviceCommand::reset) {
            state = state == DeviceState::safe ? DeviceState::idle : state;
            return {state, true};
        }
        if (state == DeviceState::safe) {
            return {state, false};
        }
        state = command == DeviceCommand::start ? DeviceState::measuring : DeviceState::idle;
        return {state, true};
    }

    std::mutex mutex_;
    std::map<std::string, DeviceState> states_;
};

}  // namespace telegate::test
