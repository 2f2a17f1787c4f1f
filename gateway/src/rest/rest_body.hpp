#pragma once

#include "rest/rest_refusals.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// A member of the JSON object in a request body.
struct BodyMember {
    std::string_view name;
    std::string schema;     // JSON Schema
    std::string_view kind;  // "a level", for the fault of an invalid value
    std::string allowed;    // the values allowed, in words
    /// Stores a valid value. Returns whether the value is valid.
    std::function<bool(const nlohmann::ordered_json& value)> read;
    bool is_required = false;
};

/// The JSON object in a request body: the table of its members. A function that returns it for a value is the only
/// place that names them: read_body() stores them in the value, and body_schema() describes them.
struct RequestBody {
    std::string_view form;       // the fault of a body of another form, such as an array
    bool is_one_member = false;  // any one of the members, which are then not required
    std::size_t depth_max = 0;   // of nested values
    std::vector<BodyMember> members;
};

/// Reads the members of a body, whose JSON is `text`. Returns its faults. Threads: one. Limits: 1 KiB, one fault per
/// member.
[[nodiscard]] std::vector<RestFault> read_body(std::string_view text, const RequestBody& body);

/// Returns the JSON Schema of a body. Threads: any.
[[nodiscard]] std::string body_schema(const RequestBody& body);
/// A function for `describe_body`. `list` returns the body of a value.
template <auto list, class Value>
std::string body_schema_of() {
    Value value;
    return body_schema(list(value));
}

}  // namespace telegate
