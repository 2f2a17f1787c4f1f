#include "log/log_line.hpp"

#include "base/json_excerpt.hpp"
#include "base/readable_bytes.hpp"

#include <algorithm>
#include <cstddef>

namespace telegate {
namespace {

std::string in_quotes(std::string_view readable) {
    std::string text = "\"";
    for (const char c : readable) {
        text += c == '"' ? "\\\"" : std::string(1, c);
    }
    return text + '"';
}

/// Maximum number of bytes in `json_text(text)` per byte of the text: \u001f.
constexpr std::size_t escape_bytes_max = 6;

}  // namespace

std::string log_value(std::string_view bytes) {
    const std::string readable = to_readable(bytes);
    const bool is_word = !readable.empty() && readable.find_first_of(" \"=") == std::string::npos;
    return is_word ? readable : in_quotes(readable);
}

std::string LogFields::value_text(const Field& field) {
    if (field.kind == Kind::word) {
        return log_value(field.value);
    }
    return field.kind == Kind::number ? field.value : in_quotes(to_readable(field.value));
}

std::string LogFields::value_json(const Field& field) {
    return field.kind == Kind::number ? field.value : json_text(to_readable(field.value));
}

LogFields& LogFields::append(const LogFields& more) {
    fields_.insert(fields_.end(), more.fields_.begin(), more.fields_.end());
    return *this;
}

std::string LogFields::text() const {
    std::string text;
    for (const Field& field : fields_) {
        text += (text.empty() ? "" : " ") + field.key + '=' + value_text(field);
    }
    return text;
}

std::string LogFields::json_members() const {
    std::string members;
    for (auto field = fields_.begin(); field != fields_.end(); ++field) {
        const auto same = [&](const Field& other) {
            return other.key == field->key;
        };
        if (std::any_of(fields_.begin(), field, same)) {
            continue;  // included in the array of its first occurrence
        }
        const bool is_taken = field->key == "time" || field->key == "level" || field->key == "message";
        members += ",\"" + field->key + (is_taken ? "_\":" : "\":");
        if (std::count_if(field, fields_.end(), same) == 1) {
            members += value_json(*field);
            continue;
        }
        std::string values;
        for (const Field& each : fields_) {
            values += same(each) ? (values.empty() ? "" : ",") + value_json(each) : "";
        }
        members += '[' + values + ']';
    }
    return members;
}

std::string LogLine::text() const {
    const std::string more = fields.text();
    return message.empty() || more.empty() ? message + more : message + ' ' + more;
}

std::string LogLine::json_members(std::size_t bytes_max) const {
    std::string members = "\"message\":" + json_text(message) + fields.json_members();
    if (members.size() <= bytes_max) {
        return members;
    }
    constexpr std::string_view cut = ",\"cut\":true";
    LogLine shorter = *this;
    shorter.message = message.substr(0, bytes_max / escape_bytes_max - cut.size());
    do {
        members = "\"message\":" + json_text(shorter.message) + shorter.fields.json_members();
        members += cut;
    } while (members.size() > bytes_max && !shorter.fields.empty() && (shorter.fields.pop_back(), true));
    return members;
}

LogFields ledger_fields(const LedgerCounts& counts) {
    const auto dropped = [&counts](DropReason reason) {
        return counts.dropped[static_cast<std::size_t>(reason)];
    };
    LogFields fields;
    fields.add("sampled", counts.sampled)
        .add("published", counts.published)
        .add("filtered", counts.filtered)
        .add("queued", counts.queued)
        .add("dropped_queue_overflow", dropped(DropReason::queue_overflow))
        .add("dropped_shutdown", dropped(DropReason::shutdown))
        .add("balanced", counts.balanced());
    return fields;
}

}  // namespace telegate
