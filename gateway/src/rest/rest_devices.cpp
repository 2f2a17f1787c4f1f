#include "config/joined.hpp"
#include "http/problem.hpp"
#include "log/log_line.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "status/status_parts.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace telegate {
namespace {

constexpr std::array device_name{path_parameter("name", "Device, as named in the settings.")};

HttpResponse no_device(const RestCall& call, const std::vector<std::string>& known) {
    return refused(call.request, 404,
                   "there is no device " + quoted_text(call.arguments.front()) + "; known devices: " + joined(known));
}

void list_devices(JsonObject& out, const std::vector<ShownDevice>& devices) {
    out.name_schema("Devices");
    out.array("devices", devices, list_device);
}

void list_states(JsonObject& out, const std::vector<DeviceAnswer>& answers) {
    out.name_schema("DeviceStates");
    add_device_states(out, answers);
}

HttpResponse get_devices(const RestCall& call) {
    return json_response(list_devices, call.handlers.shown_devices());
}

HttpResponse get_device(const RestCall& call) {
    const std::optional<ShownDevice> shown = call.handlers.shown_device(call.arguments.front());
    return shown ? json_response(list_device, *shown) : no_device(call, call.handlers.devices());
}

std::string conflict_text(const std::vector<std::string>& conflicts) {
    const bool one = conflicts.size() == 1;
    return joined(conflicts) + (one ? " is" : " are") + " in state safe and must be reset first: POST /devices/" +
           (one ? conflicts.front() : "NAME") + "/reset";
}

HttpResponse command_devices(const RestCall& call, DeviceCommand command, const std::vector<std::string>& devices) {
    std::vector<DeviceAnswer> answers;
    std::vector<std::string> conflicts;
    for (const std::string& device : devices) {
        const std::optional<CommandResult> result = call.handlers.command(device, command);
        if (!result) {  // the others would probably time out too, one after the other
            return unavailable(call.request, "no response in time for " + device + "; the devices before it are listed",
                               [&](JsonObject& out) { add_device_states(out, answers); });
        }
        answers.push_back({device, *result});
        if (!result->possible) {
            conflicts.push_back(device);
        }
    }
    if (!conflicts.empty()) {
        return problem_response({409, conflict_text(conflicts), problem_instance(call.request)},
                                [&](JsonObject& out) { add_device_states(out, answers); });
    }
    return json_response(list_states, answers);
}

std::string_view name_of(DeviceCommand command) {
    switch (command) {
        case DeviceCommand::start: return "start";
        case DeviceCommand::stop: return "stop";
        case DeviceCommand::reset: return "reset";
    }
    return "";
}

/// Sends a command to the device of the path, or to all devices if it names none.
template <DeviceCommand command>
HttpResponse post_command(const RestCall& call) {
    const std::vector<std::string> known = call.handlers.devices();
    if (call.arguments.empty()) {
        HttpResponse response = command_devices(call, command, known);
        response.log_note.add("command", name_of(command)).add("devices", known.size());
        return response;
    }
    if (std::find(known.begin(), known.end(), call.arguments.front()) == known.end()) {
        return no_device(call, known);
    }
    HttpResponse response = command_devices(call, command, {std::string(call.arguments.front())});
    response.log_note.add("command", name_of(command)).add("device", call.arguments.front());
    return response;
}

template <DeviceCommand command>
constexpr RestRoute command_all(std::string_view path, std::string_view summary) {
    return {.method = "POST",
            .path = path,
            .role = HttpRole::admin,
            .summary = summary,
            .answer_members = members_of<list_states, std::vector<DeviceAnswer>>,
            .refusals = {409, 503},
            .answer = post_command<command>};
}

template <DeviceCommand command>
constexpr RestRoute command_one(std::string_view path, std::string_view summary) {
    RestRoute route = command_all<command>(path, summary);
    route.parameters = device_name;
    route.refusals = {404, 409, 503};
    return route;
}

constexpr std::array device_route_table{
    RestRoute{.path = "/devices",
              .summary = "All devices with their ledgers.",
              .answer_members = members_of<list_devices, std::vector<ShownDevice>>,
              .answer = get_devices},
    RestRoute{.path = "/devices/{name}",
              .summary = "One device.",
              .parameters = device_name,
              .answer_members = members_of<list_device, ShownDevice>,
              .refusals = {404},
              .answer = get_device},
    command_one<DeviceCommand::start>("/devices/{name}/start", "Start one device."),
    command_one<DeviceCommand::stop>("/devices/{name}/stop", "Stop one device."),
    command_one<DeviceCommand::reset>("/devices/{name}/reset", "Reset one device."),
    command_all<DeviceCommand::start>("/start", "Start all devices."),
    command_all<DeviceCommand::stop>("/stop", "Stop all devices."),
    command_all<DeviceCommand::reset>("/reset", "Reset all devices."),
};

}  // namespace

constinit const std::span<const RestRoute> device_routes = device_route_table;

}  // namespace telegate
