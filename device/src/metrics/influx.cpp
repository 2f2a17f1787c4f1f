#include "metrics/influx.hpp"

#include <algorithm>

namespace telegate::metrics {
namespace {

/// Returns the position of the first of `marks` without a backslash before it; the size if there is none.
std::size_t find_bare(std::string_view text, std::string_view marks) noexcept {
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (marks.find(text[at]) != std::string_view::npos && (at == 0 || text[at - 1] != '\\')) {
            return at;
        }
    }
    return text.size();
}

/// Returns the length of a quoted text including its quotes; 0 if it is unterminated.
std::size_t quoted_bytes(std::string_view text) noexcept {
    for (std::size_t at = 1; at < text.size(); ++at) {
        if (text[at] == '\\') {
            ++at;
        } else if (text[at] == '"') {
            return at + 1;
        }
    }
    return 0;
}

/// Returns the end of the value at the start of `text`: the first comma or space outside of quotes.
std::size_t value_bytes(std::string_view text) noexcept {
    return text.starts_with('"') ? quoted_bytes(text) : std::min(text.find_first_of(", "), text.size());
}

std::string_view take_bytes(std::string_view& text, std::size_t count) noexcept {
    const std::string_view taken = text.substr(0, count);
    text.remove_prefix(count);
    return taken;
}

/// Control characters that are not blanks and not line ends, which a text can contain.
bool has_control_outside_lines(std::string_view text) noexcept {
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    });
}

bool has_line_end(std::string_view text) noexcept {
    return text.find_first_of("\r\n") != std::string_view::npos;
}

bool read_tags(std::string_view& text, InfluxLine& line) noexcept {
    while (take_character(text, ',')) {
        InfluxTag tag;
        tag.key = take_bytes(text, find_bare(text, "=, "));
        if (tag.key.empty() || !take_character(text, '=')) {
            return false;
        }
        tag.value = take_bytes(text, find_bare(text, "=, "));
        if (tag.value.empty() || line.tag_count == InfluxLine::tags_max) {
            return false;
        }
        line.tags[line.tag_count++] = tag;
    }
    auto* const first = line.tags.data();
    auto* const last = first + line.tag_count;
    std::sort(first, last, [](const InfluxTag& a, const InfluxTag& b) { return a.key < b.key; });
    return std::adjacent_find(first, last, [](const InfluxTag& a, const InfluxTag& b) { return a.key == b.key; }) ==
           last;
}

std::optional<bool> to_bool(std::string_view text) noexcept {
    for (const std::string_view yes : {"t", "T", "true", "True", "TRUE"}) {
        if (text == yes) {
            return true;
        }
    }
    for (const std::string_view no : {"f", "F", "false", "False", "FALSE"}) {
        if (text == no) {
            return false;
        }
    }
    return std::nullopt;
}

bool set_value(std::string_view text, InfluxField& field) noexcept {
    if (text.size() >= 2 && text.front() == '"') {
        field.value = InfluxText{text.substr(1, text.size() - 2)};
        return true;
    }
    if (text.ends_with('i') || text.ends_with('u')) {
        const auto whole = parse_number(text.substr(0, text.size() - 1));
        const bool is_whole =
            whole && (whole->kind == TextNumber::Kind::whole || whole->kind == TextNumber::Kind::beyond);
        field.value = whole.value_or(TextNumber{});
        return is_whole && text.front() != '+' && !(text.ends_with('u') && text.front() == '-');
    }
    if (const auto flag = to_bool(text)) {
        field.value = *flag;
        return true;
    }
    auto number = parse_number(text);
    if (number && number->kind == TextNumber::Kind::whole) {  // without an i, it is a real number
        *number = {number->real_quality() == Quality::good ? TextNumber::Kind::real : TextNumber::Kind::beyond, 0,
                   number->as_real()};
    }
    field.value = number.value_or(TextNumber{});
    return number.has_value();
}

/// Takes the fields from the front; the rest is empty or begins with a space.
bool read_fields(std::string_view& text, InfluxLine& line) noexcept {
    const std::string_view from = text;
    std::size_t taken = 0;
    do {
        if (!next_influx_field(text)) {
            return false;
        }
        taken = from.size() - text.size();
    } while (from[taken - 1] == ',');
    line.fields = from.substr(0, taken);
    return text.empty() || text.front() == ' ';
}

char next_character(std::string_view& raw, std::string_view escaped) noexcept {
    if (raw.size() > 1 && raw.front() == '\\' && escaped.find(raw[1]) != std::string_view::npos) {
        raw.remove_prefix(1);
    }
    const char c = raw.front();
    raw.remove_prefix(1);
    return c;
}

}  // namespace

std::string_view take_influx_line(std::string_view& text) noexcept {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    const bool is_comment = text.substr(begin).starts_with('#');
    bool has_fields = false;  // the quotes of a measurement or a tag have no meaning
    std::size_t end = begin;
    while (end < text.size() && text[end] != '\n') {
        const bool is_bare = end == begin || text[end - 1] != '\\';
        has_fields = has_fields || (text[end] == ' ' && is_bare);
        const bool begins_value = has_fields && text[end] == '=' && is_bare;
        ++end;
        if (begins_value && !is_comment && text.substr(end).starts_with('"')) {
            const std::size_t quoted = quoted_bytes(text.substr(end));
            end = quoted == 0 ? text.size() : end + quoted;
        }
    }
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    return line;
}

bool read_influx_line(std::string_view text, InfluxLine& line) noexcept {
    line.tag_count = 0;
    line.time.reset();
    line.is_time_beyond = false;
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    line.fault = "control character in the line";
    if (has_control_outside_lines(text)) {
        return false;
    }
    const std::string_view whole = text;
    line.measurement = take_bytes(text, find_bare(text, ", "));
    line.fault = "missing measurement";
    if (line.measurement.empty()) {
        return false;
    }
    line.fault = "invalid tags: must be KEY=VALUE, at most 32, without duplicates";
    if (!read_tags(text, line)) {
        return false;
    }
    line.fault = "control character in the line";
    if (has_line_end(whole.substr(0, whole.size() - text.size()))) {
        return false;
    }
    line.fault = "missing or invalid field: must be KEY=VALUE";
    if (!take_character(text, ' ')) {
        return false;
    }
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (!read_fields(text, line)) {
        return false;
    }
    line.fault = "invalid time";
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    if (text.empty()) {
        return true;
    }
    const auto time = parse_number(text);
    line.is_time_beyond = time && time->kind == TextNumber::Kind::beyond;
    if (time && time->kind == TextNumber::Kind::whole) {
        line.time = time->whole;
    }
    return line.time || line.is_time_beyond;
}

std::optional<InfluxField> next_influx_field(std::string_view& fields) noexcept {
    InfluxField field;
    field.key = take_bytes(fields, find_bare(fields, "=, "));
    if (field.key.empty() || has_line_end(field.key) || !take_character(fields, '=')) {
        return std::nullopt;
    }
    const std::string_view value = take_bytes(fields, value_bytes(fields));
    if (value.empty() || !set_value(value, field)) {
        return std::nullopt;
    }
    (void)take_character(fields, ',');
    return field;
}

char next_influx_character(std::string_view& raw) noexcept {
    return next_character(raw, ",= ");
}

char next_influx_text_character(std::string_view& raw) noexcept {
    constexpr std::string_view escaped = "\"\\nrt";
    constexpr std::string_view meant = "\"\\\n\r\t";
    const std::size_t found = raw.size() > 1 && raw.front() == '\\' ? escaped.find(raw[1]) : std::string_view::npos;
    if (found == std::string_view::npos) {
        const char c = raw.front();
        raw.remove_prefix(1);
        return c;
    }
    raw.remove_prefix(2);
    return meant[found];
}

}  // namespace telegate::metrics
