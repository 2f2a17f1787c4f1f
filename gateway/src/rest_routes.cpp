#include "rest_routes.hpp"

#include "problem.hpp"
#include "readable_bytes.hpp"
#include "rest_access.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view index_text =
    "telegate\n"
    "\n"
    "GET  /status               what the gateway is doing, as JSON\n"
    "POST /start                start all devices\n"
    "POST /stop                 stop all devices\n"
    "POST /reset                reset all devices\n"
    "POST /devices/NAME/start   the same for one device\n"
    "POST /devices/NAME/stop\n"
    "POST /devices/NAME/reset\n";

// What a client may have typed, cut and made harmless, for the text of a refusal.
constexpr std::size_t quoted_bytes_max = 64;

constexpr std::array<std::pair<std::string_view, DeviceCommand>, 3> commands{
    {{"start", DeviceCommand::start}, {"stop", DeviceCommand::stop}, {"reset", DeviceCommand::reset}}};

/// What a path stands for.
struct Route {
    enum class Kind { unknown, index, status, all_devices, one_device };
    Kind kind = Kind::unknown;
    DeviceCommand command = DeviceCommand::start;
    std::string_view device;
};

std::optional<DeviceCommand> to_command(std::string_view word) {
    for (const auto& [name, command] : commands) {
        if (name == word) {
            return command;
        }
    }
    return std::nullopt;
}

Route route_of(std::string_view path) {
    constexpr std::string_view devices = "/devices/";
    if (path == "/") {
        return {Route::Kind::index, {}, {}};
    }
    if (path == "/status") {
        return {Route::Kind::status, {}, {}};
    }
    const std::size_t slash = path.rfind('/');
    const auto command = slash == std::string_view::npos ? std::nullopt : to_command(path.substr(slash + 1));
    if (command && slash == 0) {
        return {Route::Kind::all_devices, *command, {}};
    }
    if (command && path.starts_with(devices) && slash > devices.size()) {
        return {Route::Kind::one_device, *command, path.substr(devices.size(), slash - devices.size())};
    }
    return {};
}

std::string to_instance(const HttpRequest& request) {
    return std::string(request.target.substr(0, request.target.find('?')));
}

std::string quoted(std::string_view text) {
    return '"' + to_readable(text.substr(0, quoted_bytes_max)) + '"';
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

HttpResponse unavailable(const HttpRequest& request, std::string detail, const Json& extensions = Json::object()) {
    HttpResponse response = problem_response({503, std::move(detail), to_instance(request)}, extensions);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

HttpResponse wrong_method(const HttpRequest& request, std::string_view allowed) {
    std::string detail = std::string(request.method) + " is not possible here; possible: " + std::string(allowed);
    HttpResponse response = problem_response({405, std::move(detail), to_instance(request)});
    response.headers.emplace_back("Allow", allowed);
    return response;
}

HttpResponse get_status(const RestHandlers& handlers, const HttpRequest& request) {
    HttpResponse response{200, "application/json", {}, {}};
    response.shared_body = handlers.status_body();
    if (!response.shared_body) {
        return unavailable(request, "the gateway did not give its status in time");
    }
    return response;
}

Json to_json(const std::vector<DeviceAnswer>& answers) {
    Json devices = Json::array();
    for (const DeviceAnswer& answer : answers) {
        devices.push_back({{"name", answer.device}, {"state", to_string(answer.result.state)}});
    }
    return {{"devices", std::move(devices)}};
}

std::string conflict_text(const std::vector<std::string>& refused) {
    const bool one = refused.size() == 1;
    return joined(refused) + (one ? " is" : " are") + " in state safe and must be reset first: POST /devices/" +
           (one ? refused.front() : "NAME") + "/reset";
}

HttpResponse command_devices(const RestHandlers& handlers, const HttpRequest& request, DeviceCommand command,
                             const std::vector<std::string>& devices) {
    std::vector<DeviceAnswer> answers;
    std::vector<std::string> refused;
    for (const std::string& device : devices) {
        const std::optional<CommandResult> result = handlers.command(device, command);
        if (!result) {  // the others would most likely not answer either, each after its whole wait
            return unavailable(request, "no answer in time for " + device + "; devices before it are listed",
                               to_json(answers));
        }
        answers.push_back({device, *result});
        if (!result->possible) {
            refused.push_back(device);
        }
    }
    if (!refused.empty()) {
        return problem_response({409, conflict_text(refused), to_instance(request)}, to_json(answers));
    }
    return {200, "application/json", to_json(answers).dump() + '\n', {}};
}

HttpResponse post_command(const RestHandlers& handlers, const HttpRequest& request, const Route& route) {
    const std::vector<std::string> known = handlers.devices();
    if (route.kind == Route::Kind::all_devices) {
        return command_devices(handlers, request, route.command, known);
    }
    if (std::find(known.begin(), known.end(), route.device) == known.end()) {
        return problem_response(
            {404, "there is no device " + quoted(route.device) + "; known: " + joined(known), to_instance(request)});
    }
    return command_devices(handlers, request, route.command, {std::string(route.device)});
}

}  // namespace

HttpResponse answer_rest(const RestHandlers& handlers, const HttpRequest& request) {
    if (auto refusal = refuse_unless_allowed(request, needed_role(request))) {
        return std::move(*refusal);
    }
    const Route route = route_of(request.path);
    const bool reading = request.method == "GET" || request.method == "HEAD";
    switch (route.kind) {
        case Route::Kind::unknown:
            return problem_response({404, "there is nothing at " + quoted(request.path) + "; GET / lists what there is",
                                     to_instance(request)});
        case Route::Kind::index:
            return reading ? HttpResponse{200, "text/plain; charset=utf-8", std::string(index_text), {}}
                           : wrong_method(request, "GET, HEAD");
        case Route::Kind::status: return reading ? get_status(handlers, request) : wrong_method(request, "GET, HEAD");
        case Route::Kind::all_devices:
        case Route::Kind::one_device:
            return request.method == "POST" ? post_command(handlers, request, route) : wrong_method(request, "POST");
    }
    return problem_response({500, "no such route", to_instance(request)});
}

}  // namespace telegate
