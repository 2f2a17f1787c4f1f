#include "rest/rest_table.hpp"

#include "config/joined.hpp"
#include "config/nearest_name.hpp"

#include <algorithm>
#include <optional>

namespace telegate {
namespace {

std::vector<const RestRoute*> make_table() {
    std::vector<const RestRoute*> table;
    for (const auto routes : {web_routes, overview_routes, health_routes, device_routes, event_routes, alarm_routes,
                              sample_routes, channel_routes, stream_routes, subscriber_routes, metrics_routes,
                              log_routes, uplink_routes, log_level_routes, config_routes}) {
        for (const RestRoute& route : routes) {
            table.push_back(&route);
        }
    }
    return table;
}

/// Removes and returns the part of a path before the next slash, together with the slash.
std::string_view take_part(std::string_view& path) noexcept {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size() < path.size() ? part.size() + 1 : part.size());
    return part;
}

/// Returns the values of the parts in braces, or nullopt if the path does not match.
std::optional<std::vector<std::string_view>> match_path(std::string_view wanted, std::string_view path) {
    if (std::count(wanted.begin(), wanted.end(), '/') != std::count(path.begin(), path.end(), '/')) {
        return std::nullopt;
    }
    std::vector<std::string_view> arguments;
    while (!wanted.empty() || !path.empty()) {
        const std::string_view expected = take_part(wanted);
        const std::string_view part = take_part(path);
        if (!expected.starts_with('{')) {
            if (expected != part) {
                return std::nullopt;
            }
        } else if (part.empty()) {
            return std::nullopt;
        } else {
            arguments.push_back(part);
        }
    }
    return arguments;
}

}  // namespace

const std::vector<const RestRoute*>& rest_table() {
    static const std::vector<const RestRoute*> table = make_table();
    return table;
}

RestMatch find_path(std::string_view path) {
    const auto& table = rest_table();
    for (std::size_t row = 0; row < table.size(); ++row) {
        if (auto arguments = match_path(table[row]->path, path)) {
            return {row, std::move(*arguments), true};
        }
    }
    return {};
}

const RestRoute* find_method(const RestMatch& match, std::string_view method) {
    const auto& table = rest_table();
    const std::string_view wanted = method == "HEAD" ? "GET" : method;
    for (std::size_t row = match.row; row < table.size() && table[row]->path == table[match.row]->path; ++row) {
        if (table[row]->method == wanted) {
            return table[row];
        }
    }
    return nullptr;
}

std::string allowed_methods(const RestMatch& match) {
    const auto& table = rest_table();
    std::vector<std::string_view> allowed;
    for (std::size_t row = match.row; row < table.size() && table[row]->path == table[match.row]->path; ++row) {
        allowed.push_back(table[row]->method == "GET" ? "GET, HEAD" : table[row]->method);
    }
    return joined(allowed);
}

std::string_view nearest_path(std::string_view path) {
    std::vector<std::string_view> paths;
    for (const RestRoute* route : rest_table()) {
        paths.push_back(route->path);
    }
    return nearest_name(path, paths);
}

std::string to_plain_path(std::string_view path) {
    std::string plain;
    bool in_braces = false;
    for (const char c : path) {
        if (c == '{' || c == '}') {
            in_braces = c == '{';
        } else {
            plain += in_braces && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        }
    }
    return plain;
}

}  // namespace telegate
