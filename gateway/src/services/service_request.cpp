#include "services/service_request.hpp"

#include "base/json_excerpt.hpp"
#include "base/strict_json.hpp"
#include "config/joined.hpp"
#include "config/quantity.hpp"
#include "encode/time_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, service_kinds> kind_names{"ping", "catalog", "snapshot", "replay", "status"};
constexpr std::array<std::string_view, service_errors> error_names{"bad_request", "unknown_service", "too_large",
                                                                   "busy", "unknown_epoch"};
/// The deepest nesting is that of a hole in a list in the request.
constexpr std::size_t request_depth_max = 3;
/// Maximum number of keys per object: more than any object has.
constexpr std::size_t request_keys_max = 16;
/// Larger whole numbers are not exact in the doubles of JSON parsers.
constexpr std::uint64_t request_number_max = 9'007'199'254'740'992;

struct KeyRow {
    std::string_view key;
    std::string_view services;  // which have the key; "": all
};
constexpr std::array request_keys{
    KeyRow{"service", ""},
    KeyRow{"id", ""},
    KeyRow{"prefix", "catalog snapshot replay"},
    KeyRow{"after", "catalog snapshot"},
    KeyRow{"limit", "catalog snapshot replay"},
    KeyRow{"removed", "catalog snapshot"},
    KeyRow{"epoch", "catalog replay"},
    KeyRow{"position", "replay"},
    KeyRow{"since", "replay"},
    KeyRow{"earlier_runs", "replay"},
    KeyRow{"holes", "replay"},
};
constexpr std::array<std::string_view, 3> hole_keys{"topic", "first_seq", "last_seq"};

/// Thrown within this file only.
struct Refusal {
    std::string detail;
    std::string pointer = {};
};

[[noreturn]] void refuse_request(const std::string& key, const std::string& detail, const std::string& parent = "") {
    throw Refusal{key + ": " + detail, parent + json_pointer_part(key)};
}

Json parsed_request(std::string_view text) {
    Json document;
    if (const auto fault = read_strict_json(text, {request_depth_max, request_keys_max}, document)) {
        throw Refusal{fault->pointer.empty() ? "the request " + fault->what : fault->text(), fault->pointer};
    }
    if (!document.is_object()) {
        throw Refusal{"the request is " + json_excerpt(document) + ": must be a JSON object"};
    }
    return document;
}

/// Reads the members of one object and checks their types.
///
/// Threads: one. Limits: none. Failure: throws Refusal.
class Members {
  public:
    Members(const Json& object, std::string pointer) : object_(object), pointer_(std::move(pointer)) {}

    [[nodiscard]] const Json* find(const std::string& key) const {
        const auto found = object_.find(key);
        return found == object_.end() ? nullptr : &*found;
    }

    [[nodiscard]] std::optional<std::uint64_t> whole(const std::string& key, std::uint64_t min,
                                                     std::uint64_t max) const {
        const Json* const value = find(key);
        if (value == nullptr) {
            return std::nullopt;
        }
        // -0 is parsed as a signed number, but is 0.
        const bool is_whole = value->is_number_unsigned() || (value->is_number_integer() && *value == 0);
        if (!is_whole || value->get<std::uint64_t>() < min || value->get<std::uint64_t>() > max) {
            refuse_request(key,
                           json_excerpt(*value) + " is invalid: must be a whole number from " + std::to_string(min) +
                               " to " + std::to_string(max),
                           pointer_);
        }
        return value->get<std::uint64_t>();
    }

    [[nodiscard]] std::optional<std::string> text(const std::string& key) const {
        const Json* const value = find(key);
        if (value == nullptr) {
            return std::nullopt;
        }
        if (!value->is_string() || value->get_ref<const std::string&>().size() > ServiceRequest::prefix_bytes_max) {
            refuse_request(key,
                           json_excerpt(*value) + " is invalid: must be text of at most " +
                               std::to_string(ServiceRequest::prefix_bytes_max) + " bytes",
                           pointer_);
        }
        return value->get<std::string>();
    }

    [[nodiscard]] bool flag(const std::string& key) const {
        const Json* const value = find(key);
        if (value != nullptr && !value->is_boolean()) {
            refuse_request(key, json_excerpt(*value) + " is invalid: must be true or false", pointer_);
        }
        return value != nullptr && value->get<bool>();
    }

  private:
    const Json& object_;
    const std::string pointer_;
};

/// Reads the id. Called first, so that a refusal contains it too.
std::string read_id(const Json& document) {
    const auto id = document.find("id");
    if (id == document.end()) {
        return "";
    }
    const bool is_short = id->is_string() && id->get_ref<const std::string&>().size() <= ServiceRequest::id_bytes_max;
    if (!is_short && !id->is_number_integer()) {
        refuse_request("id", json_excerpt(*id) + " is invalid: must be a whole number, or text of at most " +
                                 std::to_string(ServiceRequest::id_bytes_max) + " bytes");
    }
    return id->dump();
}

ServiceKind read_kind(const Json& document, ServiceFault& fault) {
    const auto service = document.find("service");
    if (service == document.end()) {
        throw Refusal{"service: is missing: must be one of ping, catalog, snapshot, replay, status", "/service"};
    }
    if (!service->is_string()) {
        refuse_request("service",
                       json_excerpt(*service) + " is not text: must be one of ping, catalog, snapshot, replay, status");
    }
    const auto* const name = std::find(kind_names.begin(), kind_names.end(), service->get_ref<const std::string&>());
    if (name == kind_names.end()) {
        fault.error = ServiceError::unknown_service;
        refuse_request("service", json_excerpt(*service) +
                                      " is not a service: must be one of ping, catalog, snapshot, replay, status");
    }
    return static_cast<ServiceKind>(name - kind_names.begin());
}

bool has_key(ServiceKind kind, const KeyRow& row) {
    return row.services.empty() || row.services.find(to_string(kind)) != std::string_view::npos;
}

std::string keys_of(ServiceKind kind) {
    std::vector<std::string_view> keys;
    for (const KeyRow& row : request_keys) {
        if (has_key(kind, row)) {
            keys.push_back(row.key);
        }
    }
    return joined(keys);
}

void check_keys(const Json& document, ServiceKind kind) {
    for (const auto& [key, value] : document.items()) {
        const bool is_known =
            std::any_of(request_keys.begin(), request_keys.end(),
                        [&, &name = key](const KeyRow& row) { return row.key == name && has_key(kind, row); });
        if (!is_known) {
            throw Refusal{'"' + json_name_excerpt(key) + "\" is not a key of " + std::string(to_string(kind)) +
                              ": must be one of " + keys_of(kind),
                          json_pointer_part(key)};
        }
    }
}

ServiceSince read_since(const Json& value) {
    constexpr const char* allowed =
        " is invalid: must be a time from 1678 to 2261 such as \"2026-11-20T23:11:34.123Z\" or an age such "
        "as \"10m\" or \"1500ms\"";
    if (!value.is_string()) {
        refuse_request("since", json_excerpt(value) + allowed);
    }
    const auto& text = value.get_ref<const std::string&>();
    if (const auto time = parse_iso8601(text)) {
        return {false, *time};
    }
    constexpr std::int64_t age_us_max = 9'000'000'000'000'000;  // 285 years: fits into 64 bits as nanoseconds
    const bool has_unit = !text.empty() && text.back() >= 'a' && text.back() <= 'z';
    const auto age = has_unit ? parse_quantity(text, "us") : std::variant<std::int64_t, std::string>(std::string());
    const auto* const us = std::get_if<std::int64_t>(&age);
    if (us == nullptr || *us < 0) {
        refuse_request("since", json_excerpt(value) + allowed);
    }
    constexpr std::int64_t ns_per_us = 1'000;
    return {true, std::min(*us, age_us_max) * ns_per_us};
}

ServiceHole read_hole(const Json& value, const std::string& pointer) {
    if (!value.is_object()) {
        throw Refusal{
            "holes: " + json_excerpt(value) + " is invalid: must be an object with topic, first_seq and last_seq",
            pointer};
    }
    for (const auto& [key, unused] : value.items()) {
        if (std::find(hole_keys.begin(), hole_keys.end(), key) == hole_keys.end()) {
            throw Refusal{
                '"' + json_name_excerpt(key) + "\" is not a key of a hole: must be one of topic, first_seq, last_seq",
                pointer + json_pointer_part(key)};
        }
    }
    const Members members(value, pointer);
    const auto topic = members.text("topic");
    const auto first = members.whole("first_seq", 1, request_number_max);
    if (!topic || !first) {
        const std::string missing = topic ? "first_seq" : "topic";
        refuse_request(missing, "is missing", pointer);
    }
    const auto last = members.whole("last_seq", *first, request_number_max);
    return {*topic, *first, last.value_or(ServiceHole::open_end)};
}

std::vector<ServiceHole> read_holes(const Json& value) {
    if (!value.is_array() || value.empty() || value.size() > ServiceRequest::holes_max) {
        refuse_request("holes", (value.is_array() ? "a list of " + std::to_string(value.size()) : json_excerpt(value)) +
                                    " is invalid: must be a list of 1 to " + std::to_string(ServiceRequest::holes_max) +
                                    " holes");
    }
    std::vector<ServiceHole> holes;
    holes.reserve(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
        holes.push_back(read_hole(value[i], "/holes/" + std::to_string(i)));
    }
    return holes;
}

void check_replay(const ServiceRequest& request, const Members& members) {
    if (request.holes) {
        for (const char* key : {"prefix", "since"}) {
            if (members.find(key) != nullptr) {
                refuse_request(key, "cannot be used with holes");
            }
        }
    } else if (request.position && request.since) {
        refuse_request("since", "cannot be used with position");
    } else if (!request.position && !request.since) {
        throw Refusal{"position, since or holes is missing: one of them is required"};
    }
    if (request.earlier_runs && !request.since) {
        refuse_request("earlier_runs", "can only be used with since");
    }
}

void read_members(const Json& document, ServiceRequest& request) {
    const Members members(document, "");
    request.prefix = members.text("prefix").value_or("");
    request.after = members.text("after").value_or("");
    if (const auto limit = members.whole("limit", 1, ServiceRequest::limit_max)) {
        request.limit = static_cast<std::size_t>(*limit);
    }
    request.removed = members.flag("removed");
    request.earlier_runs = members.flag("earlier_runs");
    request.position = members.whole("position", 0, request_number_max);
    if (const auto epoch = members.whole("epoch", 0, request_number_max)) {
        request.epoch = static_cast<std::int64_t>(*epoch);
    }
    if (const Json* const since = members.find("since")) {
        request.since = read_since(*since);
    }
    if (const Json* const holes = members.find("holes")) {
        request.holes = read_holes(*holes);
    }
    if (request.kind == ServiceKind::replay) {
        check_replay(request, members);
    }
}

/// Returns the requested service name as JSON if it is a text short enough to be returned; "" otherwise.
std::string service_json(const Json& document) {
    const auto service = document.find("service");
    const bool is_name = service != document.end() && service->is_string() &&
                         service->get_ref<const std::string&>().size() <= ServiceRequest::id_bytes_max;
    return is_name ? service->dump() : "";
}

}  // namespace

std::string_view to_string(ServiceKind kind) noexcept {
    return kind_names[static_cast<std::size_t>(kind)];
}

std::string_view to_string(ServiceError error) noexcept {
    return error_names[static_cast<std::size_t>(error)];
}

std::variant<ServiceRequest, ServiceFault> read_service_request(std::string_view text) {
    ServiceFault fault;
    if (text.size() > ServiceRequest::bytes_max) {
        fault.error = ServiceError::too_large;
        fault.detail = "the request is " + std::to_string(text.size()) + " bytes: must be at most " +
                       std::to_string(ServiceRequest::bytes_max);
        return fault;
    }
    try {
        const Json document = parsed_request(text);
        fault.head.service_json = service_json(document);
        fault.head.id_json = read_id(document);
        ServiceRequest request;
        request.kind = read_kind(document, fault);
        check_keys(document, request.kind);
        read_members(document, request);
        request.head = std::move(fault.head);
        return request;
    } catch (Refusal& refusal) {
        fault.detail = std::move(refusal.detail);
        fault.pointer = std::move(refusal.pointer);
        return fault;
    }
}

}  // namespace telegate
