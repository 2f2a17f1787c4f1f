#include "metrics/statsd.hpp"

#include "core/text.hpp"
#include "metrics/number_text.hpp"

#include <algorithm>

namespace telegate::metrics {
namespace {

/// Takes the text before the next `mark`, and the mark; all of it if there is none.
std::string_view take_until(std::string_view& text, char mark) noexcept {
    const std::size_t end = std::min(text.find(mark), text.size());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return taken;
}

bool has_control(std::string_view text) noexcept {
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7F;
    });
}

std::optional<StatsdKind> to_kind(std::string_view text) noexcept {
    if (text == "c" || text == "m") {
        return StatsdKind::counter;
    }
    if (text == "g") {
        return StatsdKind::gauge;
    }
    if (text == "ms") {
        return StatsdKind::timing;
    }
    if (text == "h" || text == "d") {
        return StatsdKind::distribution;
    }
    return std::nullopt;
}

/// Empty and duplicate tags are ignored.
bool read_tags(std::string_view text, StatsdLine& line) noexcept {
    while (!text.empty()) {
        const std::string_view tag = take_until(text, ',');
        if (tag.empty()) {
            continue;
        }
        if (line.tag_count == StatsdLine::tags_max) {
            return false;
        }
        line.tags[line.tag_count++] = tag;
    }
    auto* const first = line.tags.data();
    std::sort(first, first + line.tag_count);
    line.tag_count = static_cast<std::size_t>(std::unique(first, first + line.tag_count) - first);
    return true;
}

bool read_rate(std::string_view text, StatsdLine& line) noexcept {
    const auto rate = parse_number(text);
    line.rate = rate ? rate->as_real() : 0;
    return line.rate > 0 && line.rate <= 1;
}

bool read_field(std::string_view text, StatsdLine& line) noexcept {
    if (text.starts_with('@')) {
        return read_rate(text.substr(1), line);
    }
    if (text.starts_with('#')) {
        return read_tags(text.substr(1), line);
    }
    if (text.starts_with('T')) {
        line.time_s = telegate::parse_number<std::int64_t>(text.substr(1));
        return line.time_s.has_value();
    }
    return true;
}

bool fail(StatsdLine& line, std::string_view fault) noexcept {
    line.fault = fault;
    return false;
}

bool are_numbers(std::string_view values) noexcept {
    if (values.empty() || values.ends_with(':')) {
        return false;
    }
    while (!values.empty()) {
        if (!next_statsd_value(values)) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool read_statsd_line(std::string_view text, StatsdLine& line) noexcept {
    line.tag_count = 0;
    line.rate = 1;
    line.time_s.reset();
    if (has_control(text)) {
        return fail(line, "control character in the line");
    }
    std::string_view measured = take_until(text, '|');
    line.name = take_until(measured, ':');
    line.values = measured;
    const auto kind = to_kind(take_until(text, '|'));
    if (line.name.empty()) {
        return fail(line, "missing name");
    }
    if (!kind) {
        return fail(line, "missing or unknown kind: must be c, m, g, ms, h or d");
    }
    if (!are_numbers(line.values)) {
        return fail(line, "missing or invalid value: must be a number");
    }
    line.kind = *kind;
    while (!text.empty()) {
        if (!read_field(take_until(text, '|'), line)) {
            return fail(line, "invalid sampling rate, time or tags");
        }
    }
    return true;
}

std::optional<StatsdValue> next_statsd_value(std::string_view& values) noexcept {
    const std::string_view text = take_until(values, ':');
    const auto number = parse_number(text);
    if (!number) {
        return std::nullopt;
    }
    return StatsdValue{number->as_real(), number->real_quality(), text.front() == '+' || text.front() == '-'};
}

}  // namespace telegate::metrics
