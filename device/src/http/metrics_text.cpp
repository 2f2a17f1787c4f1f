#include "http/metrics_text.hpp"

#include "metrics/number_text.hpp"

#include <algorithm>
#include <cstddef>

namespace telegate::http {
namespace {

constexpr std::string_view blanks = " \t";

bool is_name_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

void skip_blanks(std::string_view& text) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
}

/// Removes and returns an unquoted name; empty if there is none.
std::string_view take_name(std::string_view& text) noexcept {
    const auto* const end = std::find_if_not(text.begin(), text.end(), is_name_character);
    const std::string_view name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    if (name.empty() || metrics::is_digit(name.front())) {
        return {};
    }
    text.remove_prefix(name.size());
    return name;
}

/// Removes and returns a text in quotes, still escaped.
std::optional<std::string_view> take_quoted(std::string_view& text) noexcept {
    if (!metrics::take_character(text, '"')) {
        return std::nullopt;
    }
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\') {
            ++at;
        } else if (text[at] == '"') {
            const std::string_view quoted = text.substr(0, at);
            text.remove_prefix(at + 1);
            return quoted;
        }
    }
    return std::nullopt;
}

std::optional<Label> take_label(std::string_view& text) noexcept {
    Label label;
    if (text.starts_with('"')) {
        const auto quoted = take_quoted(text);
        if (!quoted) {
            return std::nullopt;
        }
        label.name = *quoted;
    } else {
        label.name = take_name(text);
    }
    skip_blanks(text);
    if (label.name.empty() || !metrics::take_character(text, '=')) {
        return std::nullopt;
    }
    skip_blanks(text);
    const auto value = take_quoted(text);
    if (!value) {
        return std::nullopt;
    }
    label.value = *value;
    return label;
}

/// Removes the separator of labels. Returns false if neither a label nor the end can follow.
bool take_comma(std::string_view& text) noexcept {
    skip_blanks(text);
    const bool has_comma = metrics::take_character(text, ',');
    skip_blanks(text);
    return has_comma || text.empty() || text.starts_with('}');
}

/// Removes and returns the quoted name in {"NAME",...}. If there is none, returns "" and leaves `text` unchanged.
std::string_view take_quoted_name(std::string_view& text) noexcept {
    std::string_view rest = text;
    const auto name = take_quoted(rest);
    skip_blanks(rest);
    if (!name || rest.starts_with('=') || !take_comma(rest)) {
        return {};
    }
    text = rest;
    return *name;
}

/// Removes a name and its labels. Returns false if there is no series.
bool take_series(std::string_view& text, MetricsLine& series) noexcept {
    series.name = take_name(text);
    skip_blanks(text);
    if (!metrics::take_character(text, '{')) {
        return !series.name.empty();
    }
    skip_blanks(text);
    if (series.name.empty()) {
        series.name = take_quoted_name(text);
    }
    const std::string_view begin = text;
    while (!text.empty() && !text.starts_with('}')) {
        if (!take_label(text) || !take_comma(text)) {
            return false;
        }
    }
    series.labels = begin.substr(0, begin.size() - text.size());
    return metrics::take_character(text, '}') && !series.name.empty();
}

std::string_view take_word(std::string_view& text) noexcept {
    const std::string_view word = text.substr(0, std::min(text.find_first_of(blanks), text.size()));
    text.remove_prefix(word.size());
    skip_blanks(text);
    return word;
}

std::string to_plain(std::string_view escaped) {
    std::string plain;
    while (!escaped.empty()) {
        plain += next_label_character(escaped);
    }
    return plain;
}

bool is_equal(std::string_view escaped, std::string_view plain) noexcept {
    for (; !escaped.empty(); plain.remove_prefix(1)) {
        if (plain.empty() || next_label_character(escaped) != plain.front()) {
            return false;
        }
    }
    return plain.empty();
}

}  // namespace

MetricsLine read_metrics_line(std::string_view line) noexcept {
    using Kind = MetricsLine::Kind;
    if (line == "# EOF") {
        return {Kind::end};
    }
    skip_blanks(line);
    if (line.empty() || line.front() == '#') {
        return {Kind::comment};
    }
    MetricsLine series;
    if (!take_series(line, series)) {
        return {};
    }
    skip_blanks(line);
    const auto value = metrics::parse_number(take_word(line));
    const bool has_time = !line.empty() && line.front() != '#';
    if (!value || (has_time && !metrics::parse_number(take_word(line))) || !(line.empty() || line.starts_with("# {"))) {
        return {};
    }
    series.kind = Kind::series;
    series.value = value->as_real();
    series.quality = value->real_quality();
    return series;
}

std::optional<Label> next_label(std::string_view& labels) noexcept {
    skip_blanks(labels);
    const auto label = labels.empty() ? std::nullopt : take_label(labels);
    if (label) {
        (void)take_comma(labels);
    }
    return label;
}

char next_label_character(std::string_view& escaped) noexcept {
    char c = escaped.front();
    escaped.remove_prefix(1);
    if (c == '\\' && !escaped.empty()) {
        c = escaped.front() == 'n' ? '\n' : escaped.front();
        escaped.remove_prefix(1);
    }
    return c;
}

bool SeriesSelector::selects(const MetricsLine& series) const {
    if (!is_equal(series.name, name)) {
        return false;
    }
    return std::all_of(labels.begin(), labels.end(), [&](const auto& wanted) {
        std::string_view rest = series.labels;
        while (const auto label = next_label(rest)) {
            if (is_equal(label->name, wanted.first)) {
                return is_equal(label->value, wanted.second);
            }
        }
        return false;
    });
}

std::optional<SeriesSelector> parse_selector(std::string_view text) {
    MetricsLine series;
    if (!take_series(text, series) || !text.empty()) {
        return std::nullopt;
    }
    SeriesSelector selector{to_plain(series.name)};
    while (const auto label = next_label(series.labels)) {
        selector.labels.emplace_back(to_plain(label->name), to_plain(label->value));
    }
    return selector;
}

}  // namespace telegate::http
