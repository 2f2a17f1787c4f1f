#include "rest/rest_body.hpp"

#include "base/json_excerpt.hpp"
#include "base/strict_json.hpp"
#include "config/joined.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t body_bytes_max = 1'024;

RestFault body_fault(std::string pointer, std::string detail) {
    return {RestFault::Where::body, std::move(pointer), std::move(detail)};
}

const BodyMember* find_member(const RequestBody& body, std::string_view name) {
    const auto found = std::ranges::find(body.members, name, &BodyMember::name);
    return found == body.members.end() ? nullptr : &*found;
}

bool has_form(const Json& json, const RequestBody& body) {
    return json.is_object() &&
           (!body.is_one_member || (json.size() == 1 && find_member(body, json.begin().key()) != nullptr));
}

std::vector<std::string_view> member_names(const RequestBody& body) {
    std::vector<std::string_view> names(body.members.size());
    std::ranges::transform(body.members, names.begin(), &BodyMember::name);
    return names;
}

}  // namespace

std::vector<RestFault> read_body(std::string_view text, const RequestBody& body) {
    if (text.size() > body_bytes_max) {
        return {body_fault("", "is too large: must be at most " + std::to_string(body_bytes_max) + " bytes")};
    }
    Json json;
    if (const auto fault = read_strict_json(text, {body.depth_max}, json)) {
        return {body_fault(fault->pointer, fault->what)};
    }
    if (!has_form(json, body)) {
        return {body_fault("", std::string(body.form))};
    }
    std::vector<RestFault> faults;
    for (const auto& [name, value] : json.items()) {
        const BodyMember* const member = find_member(body, name);
        if (member == nullptr) {
            faults.push_back(
                body_fault(json_pointer_part(name), "is unknown: must be " + joined(member_names(body), " or ")));
        } else if (!member->read(value)) {
            faults.push_back(body_fault(
                json_pointer_part(name),
                json_excerpt(value) + " is not " + std::string(member->kind) + ": must be " + member->allowed));
        }
    }
    for (const BodyMember& member : body.members) {
        if (member.is_required && !json.contains(member.name)) {
            faults.push_back(body_fault(json_pointer_part(member.name), "is missing: must be " + member.allowed));
        }
    }
    return faults;
}

std::string body_schema(const RequestBody& body) {
    Json schema{{"type", "object"}};
    for (const BodyMember& member : body.members) {
        if (body.is_one_member) {
            schema["oneOf"].push_back({{"required", {member.name}}});
        } else if (member.is_required) {
            schema["required"].push_back(member.name);
        }
        schema["properties"][std::string(member.name)] = Json::parse(member.schema);
    }
    schema["additionalProperties"] = false;
    return schema.dump();
}

}  // namespace telegate
