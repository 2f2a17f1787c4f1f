#include "base/json_object.hpp"

#include "base/json_excerpt.hpp"
#include "core/assert.hpp"

#include <nlohmann/json.hpp>

namespace telegate {
namespace {

using OrderedJson = nlohmann::ordered_json;

bool is_plain(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

void append_member(std::string& members, std::string_view name, std::string_view value) {
    members += members.empty() ? "" : ",";
    append_quoted(members, name);
    members.append(value.empty() ? "" : ":").append(value);
}

}  // namespace

void append_real(std::string& out, double value) {
    out += OrderedJson(value).dump();
}

void append_quoted(std::string& out, std::string_view text) {
    if (is_plain(text)) {
        out.append("\"").append(text).append("\"");
    } else {
        out += json_text(text);
    }
}

void JsonSchemas::add(const std::string& name, const std::string& schema) {
    const auto [place, is_new] = schemas_.emplace(name, schema);
    TELEGATE_ASSERT(!name.empty() && (is_new || place->second == schema));
}

void JsonSchemas::add_choice(const std::string& name, const std::vector<std::string_view>& values) {
    add(name, schema_choice(values));
}

std::string schema_reference(std::string_view name) {
    return R"({"$ref":"#/components/schemas/)" + std::string(name) + "\"}";
}

std::string schema_array(std::string_view items) {
    return R"({"type":"array","items":)" + std::string(items) + '}';
}

std::string schema_choice(const std::vector<std::string_view>& values) {
    return OrderedJson{{"enum", values}}.dump();
}

std::string schema_or_null(std::string_view schema) {
    OrderedJson json = OrderedJson::parse(schema);
    if (json.contains("enum")) {
        json["enum"].push_back(nullptr);
    } else if (json.contains("type")) {
        json["type"] = {json["type"], "null"};
    } else {
        json = {{"oneOf", {std::move(json), {{"type", "null"}}}}};
    }
    return json.dump();
}

std::string& JsonObject::begin(std::string_view name) {
    *out_ += out_->back() == '{' ? "" : ",";
    append_quoted(*out_, name);
    return *out_ += ':';
}

void JsonObject::describe(std::string_view name, std::string_view schema) {
    append_member(properties_, name, schema);
    if (!is_optional_) {
        append_member(required_, name, "");
    }
}

void JsonObject::describe_optional(std::string_view name, std::string_view schema) {
    append_member(properties_, name, schema);
}

void JsonObject::describe_map(std::string_view name, std::string_view schema, std::string_view values) {
    schemas_->add(std::string(schema), R"({"type":"object","additionalProperties":)" + std::string(values) + '}');
    describe(name, schema_reference(schema));
}

std::string JsonObject::described() const {
    const std::string required = required_.empty() ? "" : R"("required":[)" + required_ + "],";
    return R"({"type":"object",)" + required + R"("properties":{)" + properties_ + "}}";
}

}  // namespace telegate
