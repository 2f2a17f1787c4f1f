#include "rest/rest_refusals.hpp"

#include "base/readable_bytes.hpp"
#include "config/joined.hpp"
#include "config/nearest_name.hpp"
#include "core/text.hpp"
#include "core/utf8.hpp"
#include "http/problem.hpp"
#include "rest/rest_query.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t quoted_bytes_max = 64;

}  // namespace

std::string quoted_text(std::string_view text) {
    return '"' + to_readable(text.substr(0, quoted_bytes_max)) + '"';
}

std::string problem_instance(const HttpRequest& request) {
    return std::string(request.target.substr(0, request.target.find('?')));
}

HttpResponse refused(const HttpRequest& request, int status, std::string detail) {
    return problem_response({status, std::move(detail), problem_instance(request)});
}

HttpResponse unavailable(const HttpRequest& request, std::string detail) {
    return unavailable(request, std::move(detail), nullptr);
}

HttpResponse unavailable(const HttpRequest& request, std::string detail, const std::function<void(JsonObject&)>& more) {
    HttpResponse response = problem_response({503, std::move(detail), problem_instance(request)}, more);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

void add_faults(JsonObject& out, const std::vector<RestFault>& faults) {
    using Where = RestFault::Where;
    out.array("errors", faults, [](JsonObject& error, const RestFault& fault) {
        error.name_schema("Fault");
        error.add_if("parameter", fault.where == Where::parameter ? std::optional(fault.name) : std::nullopt);
        error.add_if("pointer", fault.where == Where::body ? std::optional(fault.name) : std::nullopt);
        error.add("detail", fault.detail);
    });
}

void add_device_states(JsonObject& out, const std::vector<DeviceAnswer>& answers) {
    out.array("devices", answers, [](JsonObject& device, const DeviceAnswer& answer) {
        device.name_schema("NamedState");
        device.add("name", answer.device);
        device.add_named("state", "DeviceState", answer.result.state);
    });
}

HttpResponse unprocessable(const HttpRequest& request, const std::vector<RestFault>& faults) {
    std::string detail;
    for (const RestFault& fault : faults) {
        detail += (detail.empty() ? "" : "; ") + (fault.name.empty() ? "the body" : fault.name) + ": " + fault.detail;
    }
    return problem_response({422, std::move(detail), problem_instance(request)},
                            [&](JsonObject& out) { add_faults(out, faults); });
}

std::vector<RestFault> unknown_parameters(const RestQuery& query, std::span<const RestParameter> known) {
    std::vector<std::string_view> names;
    for (const RestParameter& parameter : known) {
        if (parameter.place == RestParameter::Place::query) {
            names.push_back(parameter.name);
        }
    }
    const std::string allowed = names.empty() ? "this path has no parameters" : "must be one of " + joined(names);
    std::vector<RestFault> faults;
    for (const std::string_view name : query.names()) {
        if (std::find(names.begin(), names.end(), name) == names.end() && faults.size() < unknown_parameters_max) {
            const std::string_view near = nearest_name(name, names);
            faults.push_back(
                {RestFault::Where::parameter, to_readable(name.substr(0, quoted_bytes_max)),
                 "unknown parameter; " + (near.empty() ? "" : "did you mean " + std::string(near) + "? ") + allowed});
        }
    }
    if (faults.empty() && query.has_more()) {
        faults.push_back({RestFault::Where::parameter, std::string(query.names().back()),
                          "too many parameters: must be at most " + std::to_string(RestQuery::parameters_max)});
    }
    return faults;
}

bool ParameterReader::flag(std::string_view name) {
    const std::vector<std::string_view> values = call_.query.all(name);
    const std::string_view value = values.size() == 1 ? values.front() : "";
    const bool is_on = value == "1" || value == "true";
    if (!values.empty() && !is_on && value != "0" && value != "false") {
        fault(name, (values.size() > 1 ? "given more than once" : quoted_text(value) + " is invalid") +
                        ": must be 1, 0, true or false, once");
    }
    return is_on;
}

std::optional<std::chrono::milliseconds> ParameterReader::revert_after(std::string_view name) {
    const std::vector<std::string_view> values = call_.query.all(name);
    const auto time = values.size() == 1 ? parse_revert_after(values.front()) : std::nullopt;
    if (!values.empty() && !time) {
        fault(name, quoted_text(values.front()) + " is invalid: must be " + std::string(revert_allowed) + ", once");
    }
    return time;
}

std::optional<std::uint64_t> ParameterReader::number(std::string_view name, Range range) {
    const std::vector<std::string_view> values = call_.query.all(name);
    if (values.empty()) {
        return std::nullopt;
    }
    const std::string_view value = values.front();
    const auto number = parse_number<std::uint64_t>(value);
    if (values.size() == 1 && number && *number >= range.min && *number <= range.max) {
        return number;
    }
    fault(name, (values.size() > 1 ? "given more than once" : quoted_text(value) + " is invalid") +
                    ": must be a single whole number from " + std::to_string(range.min) + " to " +
                    std::to_string(range.max));
    return std::nullopt;
}

std::string_view ParameterReader::text(std::string_view name, std::size_t characters_max) {
    const std::vector<std::string_view> values = texts(name, 1, characters_max);
    return values.empty() ? std::string_view() : values.front();
}

std::vector<std::string_view> ParameterReader::texts(std::string_view name, std::size_t count_max,
                                                     std::size_t characters_max) {
    std::vector<std::string_view> values = call_.query.all(name);
    if (values.size() > count_max) {
        fault(name, "given " + std::to_string(values.size()) + " times: must be at most " + std::to_string(count_max));
        return {};
    }
    for (const std::string_view value : values) {
        if (count_characters(value) > characters_max) {
            fault(name, "is too long: must be at most " + std::to_string(characters_max) + " characters");
            return {};
        }
    }
    return values;
}

void ParameterReader::fault(std::string_view name, std::string detail) {
    faults_.push_back({RestFault::Where::parameter, std::string(name), std::move(detail)});
}

}  // namespace telegate
