#include "metrics/metrics_table.hpp"
#include "pages.hpp"
#include "rest/rest_table.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace telegate::reference {
namespace {

constexpr std::string_view code_begin = "{{code ";
constexpr std::string_view code_end = "}}";

/// Removes the next line from the front of `text` and returns it without its line end.
std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

std::size_t indentation(std::string_view line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

/// Returns the lines between the lines `begin` and `end`, whose indentation is ignored.
std::vector<std::string_view> between(std::string_view text, const std::string& begin, const std::string& end) {
    std::vector<std::string_view> lines;
    bool is_inside = false;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        const std::string_view mark = line.substr(indentation(line));
        if (is_inside && mark == end) {
            return lines;
        }
        if (is_inside) {
            lines.push_back(line);
        }
        is_inside = is_inside || mark == begin;
    }
    throw std::runtime_error("code example: missing line " + (is_inside ? end : begin));
}

std::string code_block(const std::vector<std::string_view>& lines) {
    std::size_t margin = std::string_view::npos;
    for (const std::string_view line : lines) {
        margin = line.empty() ? margin : std::min(margin, indentation(line));
    }
    std::string block = "```cpp\n";
    for (const std::string_view line : lines) {
        block += std::string(line.substr(std::min(margin, line.size()))) + '\n';
    }
    return block + "```\n";
}

/// Returns the page with `text` between the lines <!-- NAME --> and <!-- /NAME -->.
std::string with_part(std::string_view page, const std::string& name, const std::string& text) {
    const std::string begin = "<!-- " + name + " -->\n";
    const std::string end = "<!-- /" + name + " -->\n";
    const std::size_t from = page.find(begin);
    const std::size_t to = page.find(end);
    if (from == std::string_view::npos || to == std::string_view::npos || to < from) {
        throw std::runtime_error("missing line <!-- " + name + " --> or <!-- /" + name + " -->");
    }
    return std::string(page.substr(0, from + begin.size())) + text + std::string(page.substr(to));
}

std::string route_line(const RestRoute& route) {
    std::string query;
    for (const RestParameter& parameter : route.parameters) {
        if (parameter.place == RestParameter::Place::query) {
            query += (query.empty() ? "?" : "&") + std::string(parameter.name) + '=';
        }
    }
    const char* const role = route.role == HttpRole::none ? "all" : route.role == HttpRole::reader ? "reader" : "admin";
    return "| `" + std::string(route.method) + ' ' + to_plain_path(route.path) + query + "` | " + role + " | " +
           std::string(route.summary) + " |\n";
}

}  // namespace

std::string with_settings(std::string_view page, std::string_view driver) {
    return with_part(page, "settings", driver_settings(driver));
}

std::string with_routes(std::string_view page) {
    std::string table = "| request | role | response |\n|---|---|---|\n";
    for (const RestRoute* route : rest_table()) {
        table += route_line(*route);
    }
    return with_part(page, "routes", table);
}

std::string with_code(std::string_view outline, std::string_view source) {
    if (outline.empty()) {
        throw std::runtime_error("cannot read the outline");
    }
    std::string text;
    while (!outline.empty()) {
        const std::string_view line = take_line(outline);
        if (line.starts_with(code_begin) && line.ends_with(code_end)) {
            const std::string name(line.substr(code_begin.size(), line.size() - code_begin.size() - code_end.size()));
            text += code_block(between(source, "// [" + name, "// " + name + ']'));
        } else {
            text += std::string(line) + '\n';
        }
    }
    return text;
}

std::string with_metrics(std::string page) {
    std::string text = std::move(page);
    for (const MetricRow* row : metrics_table()) {
        const MetricName& metric = row->metric;
        const char* const ending = metric.type == MetricType::counter ? "_total"
                                   : metric.type == MetricType::info  ? "_info"
                                                                      : "";
        text += "| `" + std::string(metric.name) + ending + "` | " + std::string(to_string(metric.type)) + " | " +
                std::string(metric.unit) + " | " + std::string(row->labels) + " | " + std::string(metric.help) + " |\n";
    }
    return text;
}

}  // namespace telegate::reference
