#pragma once

#include "base/metric_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace telegate {

/// A value whose JSON Schema does not follow from its type.
template <class Value>
struct Described {
    Value value;
    std::string_view schema;
};
template <class Value>
Described(Value, std::string_view) -> Described<Value>;

inline constexpr std::string_view schema_from_1 = R"({"type":"integer","minimum":1})";
inline constexpr std::string_view schema_not_negative = R"({"type":"number","minimum":0})";

/// Returns nullopt for an empty text. Threads: any.
[[nodiscard]] inline std::optional<std::string> text_or_null(std::string text) {
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

/// Append a value to JSON text. A number that is not finite becomes null, and bytes that are not UTF-8 are replaced.
/// Threads: any. Failure: std::bad_alloc.
void append_real(std::string& out, double value);
void append_quoted(std::string& out, std::string_view text);

template <class Value>
void append_json(std::string& out, const std::optional<Value>& value);
template <class Value>
void append_json(std::string& out, const std::vector<Value>& values);
template <class Value>
void append_json(std::string& out, const Described<Value>& value);
template <class Value>
void append_json(std::string& out, const Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
        out += value ? "true" : "false";
    } else if constexpr (std::is_enum_v<Value>) {
        append_quoted(out, to_string(value));
    } else if constexpr (std::is_integral_v<Value>) {
        out += std::to_string(value);
    } else if constexpr (std::is_floating_point_v<Value>) {
        append_real(out, value);
    } else {
        append_quoted(out, value);
    }
}
template <class Value>
void append_json(std::string& out, const std::optional<Value>& value) {
    if (value) {
        append_json(out, *value);
    } else {
        out += "null";
    }
}
template <class Value>
void append_json(std::string& out, const std::vector<Value>& values) {
    out += '[';
    for (const Value& value : values) {
        out += out.back() == '[' ? "" : ",";
        append_json(out, value);
    }
    out += ']';
}
template <class Value>
void append_json(std::string& out, const Described<Value>& value) {
    append_json(out, value.value);
}

class JsonObject;

/// JSON Schemas by name, as in `components` of an OpenAPI document. Every object has a name, because code generators
/// require it. Threads: one at a time. Failure: std::bad_alloc.
class JsonSchemas {
  public:
    /// Describes the object whose members `list` adds, and the objects in it. Returns the name of its schema. `parent`:
    /// an object whose metrics are also described, see JsonObject.
    template <class List>
    std::string describe(const List& list, const JsonObject* parent = nullptr);
    /// Adds a schema. The same name always has the same schema.
    void add(const std::string& name, const std::string& schema);
    /// Adds the schema of a text with these values.
    void add_choice(const std::string& name, const std::vector<std::string_view>& values);
    [[nodiscard]] const std::map<std::string, std::string>& all() const noexcept { return schemas_; }

  private:
    std::map<std::string, std::string> schemas_;
};

/// Return JSON Schemas as text. Threads: any.
[[nodiscard]] std::string schema_reference(std::string_view name);
[[nodiscard]] std::string schema_array(std::string_view items);
[[nodiscard]] std::string schema_choice(const std::vector<std::string_view>& values);
[[nodiscard]] std::string schema_or_null(std::string_view schema);

/// Returns the names of an enumeration with fewer than 32 enumerators.
template <class Enum>
std::vector<std::string_view> enumerator_names() {
    constexpr int values_max = 32;
    std::vector<std::string_view> names;
    for (int value = 0; value < values_max; ++value) {
        const std::string_view name = to_string(static_cast<Enum>(value));
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
    return names;
}

template <class Value>
std::string json_schema(const std::optional<Value>& value);
template <class Value>
std::string json_schema(const std::vector<Value>& values);
template <class Value>
std::string json_schema(const Described<Value>& value);
template <class Value>
std::string json_schema(const Value& /*value*/) {
    if constexpr (std::is_same_v<Value, bool>) {
        return R"({"type":"boolean"})";
    } else if constexpr (std::is_enum_v<Value>) {
        return schema_choice(enumerator_names<Value>());
    } else if constexpr (std::is_unsigned_v<Value>) {
        return schema_reference("Count");
    } else if constexpr (std::is_integral_v<Value>) {
        return R"({"type":"integer"})";
    } else if constexpr (std::is_floating_point_v<Value>) {
        return R"({"type":"number"})";
    } else {
        return R"({"type":"string"})";
    }
}
template <class Value>
std::string json_schema(const std::optional<Value>& value) {
    return schema_or_null(json_schema(value ? *value : Value{}));
}
template <class Value>
std::string json_schema(const std::vector<Value>& /*values*/) {
    return schema_array(json_schema(Value{}));
}
template <class Value>
std::string json_schema(const Described<Value>& value) {
    return std::string(value.schema);
}

/// The members of a JSON object. A function that adds the members of a value is the only place that names them: it
/// writes them as JSON, describes them as a JSON Schema, or collects those that are metrics, so a response, its schema
/// and the metrics cannot differ.
///
/// A function that describes gets a default value, so it must not require anything of the value, and it must add all
/// members: those that depend on the value with add_if() or after set_optional().
///
/// Members of objects are metrics if they name one. Elements of arrays and maps are not: metrics_of_each() adds theirs,
/// with a label that distinguishes them.
///
/// Threads: one at a time. Limits: none of its own. Failure: std::bad_alloc.
class JsonObject {
  public:
    /// Appends the object whose members `list` adds.
    template <class List>
    static void write(std::string& out, const List& list) {
        out += '{';
        JsonObject object(&out, nullptr);
        list(object);
        out += '}';
    }

    /// Adds the metrics that `list` adds. With `schemas`, they are only described.
    template <class List>
    static void collect(MetricText& out, const List& list, JsonSchemas* schemas = nullptr) {
        JsonObject object(nullptr, schemas);
        object.metrics_ = &out;
        list(object);
    }

    /// Returns whether the members are described.
    [[nodiscard]] bool describes() const noexcept { return schemas_ != nullptr; }
    /// Names the schema of this object. Required if it is described.
    void name_schema(std::string_view name) noexcept { name_ = name; }
    /// Describes the following members as optional, or as required again.
    void set_optional(bool is_optional) noexcept { is_optional_ = is_optional; }

    /// Adds a label to the metrics of this object; `value` must outlive it.
    void label(std::string_view name, std::string_view value) {
        if (has_metrics()) {
            labels_.push_back({name, value});
        }
    }
    /// Sets whether the following members are also metrics.
    void set_metrics(bool has_metrics) noexcept { has_metrics_ = has_metrics; }

    template <class Value>
    void add(std::string_view name, const Value& value) {
        if (describes()) {
            describe(name, json_schema(value));
        } else if (writes()) {
            append_json(begin(name), value);
        }
    }
    /// Adds a member that is also a metric.
    template <class Value>
    void add(std::string_view name, const Value& value, const MetricName& metric) {
        add(name, value);
        add_metric(metric, value, metric.by.empty() ? MetricLabels{} : MetricLabels{{metric.by, name}});
    }
    /// Adds a sample of a metric that is not a member; see MetricText::add().
    template <class Value>
    void add_metric(const MetricName& metric, const Value& value, const MetricLabels& more_labels = {}) {
        if (!has_metrics()) {
            return;
        }
        MetricLabels labels = labels_;
        labels.insert(labels.end(), more_labels.begin(), more_labels.end());
        if (describes()) {
            metrics_->describe(metric, labels);
        } else {
            metrics_->add(metric, labels, value);
        }
    }
    /// Adds a metric with a sample for each enumerator: 1 for `value`, 0 for the others.
    template <class Enum>
    void add_states(const MetricName& metric, Enum value) {
        for (const std::string_view name : enumerator_names<Enum>()) {
            add_metric(metric, name == to_string(value), {{metric.by, name}});
        }
    }
    /// Adds the metrics of each element; `list(JsonObject&, const Element&)` adds its labels and metrics.
    template <class Range, class List>
    void metrics_of_each(const Range& range, const List& list) {
        if (!has_metrics()) {
            return;
        }
        if (describes()) {
            JsonObject object(nullptr, schemas_, this);
            return list(object, ElementOf<Range>{});
        }
        for (const auto& element : range) {
            JsonObject object(nullptr, nullptr, this);
            list(object, element);
        }
    }
    /// Adds a member that is absent without a value.
    template <class Value>
    void add_if(std::string_view name, const std::optional<Value>& value) {
        if (describes()) {
            describe_optional(name, json_schema(value ? *value : Value{}));
        } else if (writes() && value) {
            append_json(begin(name), *value);
        }
    }
    /// Adds an enumerator of an enumeration whose schema has a name.
    template <class Enum>
    void add_named(std::string_view name, std::string_view schema, Enum value) {
        if (describes()) {
            schemas_->add_choice(std::string(schema), enumerator_names<Enum>());
        }
        add(name, Described{value, describes() ? schema_reference(schema) : std::string()});
    }
    /// Adds JSON text that `write(std::string&)` appends. nullptr if it is only described.
    template <class Write>
    void add_text(std::string_view name, std::string_view schema, const Write& write) {
        if (describes()) {
            describe(name, schema);
        } else if constexpr (!std::is_same_v<Write, std::nullptr_t>) {
            if (writes()) {
                write(begin(name));
            }
        }
    }
    /// The same for a member that may be absent.
    template <class Write>
    void add_text_if(bool is_present, std::string_view name, std::string_view schema, const Write& write) {
        if (describes()) {
            describe_optional(name, schema);
        } else if (writes() && is_present) {
            write(begin(name));
        }
    }

    /// Describes an object that a schema of add_text() names.
    template <class List>
    void describe_object(const List& list) {
        schemas_->describe(list);
    }

    /// Adds an object; `list(JsonObject&)` adds its members.
    template <class List>
    void object(std::string_view name, const List& list) {
        if (describes()) {
            describe(name, schema_reference(schemas_->describe(list, this)));
        } else if (writes()) {
            write(begin(name), list);
        } else if (has_metrics()) {
            JsonObject object(nullptr, nullptr, this);
            list(object);
        }
    }
    /// Adds an object or null; `list(JsonObject&, const Value&)` adds its members.
    template <class Value, class List>
    void object_or_null(std::string_view name, const std::optional<Value>& value, const List& list) {
        if (describes()) {
            describe(name, schema_or_null(reference_to<Value>(list, this)));
        } else if (value) {
            object(name, [&](JsonObject& object) { list(object, *value); });
        } else if (writes()) {
            begin(name) += "null";
        }
    }
    /// Adds an object that is absent without a value.
    template <class Value, class List>
    void object_if(std::string_view name, const std::optional<Value>& value, const List& list) {
        if (describes()) {
            describe_optional(name, reference_to<Value>(list, this));
        } else if (value) {
            object(name, [&](JsonObject& object) { list(object, *value); });
        }
    }
    /// Adds an array of objects; `list(JsonObject&, const Element&)` adds the members of one.
    template <class Range, class List>
    void array(std::string_view name, const Range& range, const List& list) {
        if (describes()) {
            describe(name, schema_array(reference_to<ElementOf<Range>>(list)));
        }
        if (!writes()) {
            return;
        }
        std::string& out = begin(name) += '[';
        for (const auto& element : range) {
            out += out.back() == '[' ? "" : ",";
            append_object(out, element, list);
        }
        out += ']';
    }
    /// Adds an array of the values that `get(element)` returns.
    template <class Range, class Get>
    void values(std::string_view name, const Range& range, const Get& get) {
        if (describes()) {
            describe(name, schema_array(json_schema(get(ElementOf<Range>{}))));
        } else if (writes()) {
            std::vector<std::decay_t<decltype(get(*std::begin(range)))>> values;
            std::transform(std::begin(range), std::end(range), std::back_inserter(values), get);
            append_json(begin(name), values);
        }
    }
    /// The name of a member, and of the schema of its object.
    struct MapName {
        std::string_view name;
        std::string_view schema;
    };
    /// Adds an object with one object per element, called `key(element)`.
    template <class Range, class Key, class List>
    void map(MapName names, const Range& range, const Key& key, const List& list) {
        if (describes()) {
            describe_map(names.name, names.schema, reference_to<ElementOf<Range>>(list));
        }
        if (!writes()) {
            return;
        }
        std::string& out = begin(names.name) += '{';
        for (const auto& element : range) {
            out += out.back() == '{' ? "" : ",";
            append_quoted(out, key(element));
            append_object(out += ':', element, list);
        }
        out += '}';
    }
    /// Adds an object with a counter for each enumerator.
    template <class Enum, std::size_t size>
    void counts(std::string_view name, const std::array<std::uint64_t, size>& counts) {
        if (describes()) {
            return describe_map(name, "Counts", schema_reference("Count"));
        }
        object(name, [&](JsonObject& object) {
            for (std::size_t i = 0; i < size; ++i) {
                object.add(to_string(static_cast<Enum>(i)), counts[i]);
            }
        });
    }
    /// The same for counters that are also samples of a metric.
    template <class Enum, std::size_t size>
    void counts(std::string_view name, const std::array<std::uint64_t, size>& counts, const MetricName& metric) {
        this->counts<Enum>(name, counts);
        for (std::size_t i = 0; i < size; ++i) {
            add_metric(metric, counts[i], {{metric.by, to_string(static_cast<Enum>(i))}});
        }
    }

  private:
    friend class JsonSchemas;
    template <class Range>
    using ElementOf = std::decay_t<decltype(*std::begin(std::declval<const Range&>()))>;

    /// An object in `parent` has its metrics and labels.
    JsonObject(std::string* out, JsonSchemas* schemas, const JsonObject* parent = nullptr)
        : out_(out), schemas_(schemas) {
        if (parent != nullptr && parent->has_metrics()) {
            metrics_ = parent->metrics_;
            labels_ = parent->labels_;
        }
    }

    [[nodiscard]] bool writes() const noexcept { return out_ != nullptr; }
    [[nodiscard]] bool has_metrics() const noexcept { return metrics_ != nullptr && has_metrics_; }

    /// Appends the name of a member. Returns the text that its value is appended to.
    std::string& begin(std::string_view name);
    void describe(std::string_view name, std::string_view schema);
    void describe_optional(std::string_view name, std::string_view schema);
    void describe_map(std::string_view name, std::string_view schema, std::string_view values);
    [[nodiscard]] std::string described() const;

    template <class Value, class List>
    [[nodiscard]] std::string reference_to(const List& list, const JsonObject* parent = nullptr) {
        return schema_reference(schemas_->describe([&](JsonObject& object) { list(object, Value{}); }, parent));
    }
    template <class Value, class List>
    static void append_object(std::string& out, const Value& value, const List& list) {
        write(out, [&](JsonObject& object) { list(object, value); });
    }

    std::string* const out_;         // nullptr: does not write
    JsonSchemas* const schemas_;     // nullptr: does not describe
    MetricText* metrics_ = nullptr;  // nullptr: does not collect or describe metrics
    bool has_metrics_ = true;
    MetricLabels labels_;
    std::string_view name_;
    bool is_optional_ = false;
    std::string properties_;  // described so far
    std::string required_;
};

template <class List>
std::string JsonSchemas::describe(const List& list, const JsonObject* parent) {
    JsonObject object(nullptr, this, parent);
    list(object);
    std::string name(object.name_);
    add(name, object.described());
    return name;
}

/// Returns the JSON text of the object whose members `list` adds.
template <class List>
std::string json_object_text(const List& list) {
    std::string out;
    JsonObject::write(out, list);
    return out;
}

}  // namespace telegate
