#include "pages.hpp"
#include "metrics/metrics_table.hpp"
#include "rest/rest_table.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace telegate::reference {
namespace {

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

std::string with_part(std::string_view page, const std::string& name, const std::string& text) {
    const std::string begin = "<!-- " + name + " -->\n";
    const std::size_t from = page.find(begin);
    const std::size_t to = page.find("<!-- /" + name + " -->\n");
    if (from == std::string_view::npos || to == std::string_view::npos || to < from) {
        throw std::runtime_error("missing line <!-- " + name + " --> or <!-- /" + name + " -->");
    }
    return std::string(page.substr(0, from + begin.size())) + text + std::string(page.substr(page.rfind('\n', to) + 1));
}

std::string with_routes(std::string_view page) {
    std::string table = "| request | role | response |\n|---|---|---|\n";
    for (const RestRoute* route : rest_table()) {
        table += route_line(*route);
    }
    return with_part(page, "routes", table);
}

std::string with_code(std::string page, std::string_view source) {
    constexpr std::string_view begin = "<!-- code ";
    constexpr std::string_view end = " -->";
    std::size_t at = page.find(begin);
    if (at == std::string::npos) {
        throw std::runtime_error("missing line <!-- code NAME -->");
    }
    for (; at != std::string::npos; at = page.find(begin, at + begin.size())) {
        const std::size_t name_at = at + begin.size();
        const std::string name = page.substr(name_at, page.find(end, name_at) - name_at);
        const std::string code = code_block(between(source, "// [" + name, "// " + name + ']'));
        const std::string part = "code " + name;
        page = with_part(page, part, code);
    }
    return page;
}

std::string with_metrics(std::string_view page) {
    std::string table = "| metric | type | unit | labels | meaning |\n|---|---|---|---|---|\n";
    for (const MetricFamily& family : metrics_table()) {
        const MetricName& metric = family.metric;
        table += "| `" + metric.of_samples() + "` | " + std::string(to_string(metric.type)) + " | " +
                 std::string(metric.unit()) + " | " + family.labels + " | " + std::string(metric.help) + " |\n";
    }
    return with_part(page, "metrics", table);
}

}  // namespace telegate::reference
