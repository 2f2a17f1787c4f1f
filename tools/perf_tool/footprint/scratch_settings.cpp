#include "scratch_settings.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>

namespace telegate::perf {

namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    const std::size_t last = text.find_last_not_of(" \t\r");
    return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

/// What `key` gets instead of `value`.
std::string replacement(std::string_view key, std::string_view value, const SettingChanges& changes,
                        const std::string& folder) {
    const auto change = std::ranges::find(changes, key, &SettingChanges::value_type::first);
    if (change != changes.end()) {
        return change->second;
    }
    if (key == "listen") {
        return "127.0.0.1:0";
    }
    if (key == "endpoint") {
        return value.starts_with("ipc://") ? "ipc://" + folder + std::string(value.substr(value.rfind('/')))
                                           : "tcp://127.0.0.1:0";
    }
    return std::string(value);
}

}  // namespace

std::string scratch_settings(std::string_view text, const SettingChanges& changes, const std::string& folder) {
    std::string body;
    SettingChanges missing = changes;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line); body += '\n') {
        const std::string_view content = trimmed(line);
        const std::size_t equals = content.find('=');
        if (equals == std::string_view::npos || content.starts_with('#') || content.starts_with(';')) {
            body += line;
            continue;
        }
        const std::string key(trimmed(content.substr(0, equals)));
        body += key + " = " + replacement(key, trimmed(content.substr(equals + 1)), changes, folder);
        std::erase_if(missing, [&key](const auto& change) { return change.first == key; });
    }
    std::string head;
    for (const auto& [key, value] : missing) {
        head.append(key).append(" = ").append(value).append("\n");
    }
    return head + body;
}

}  // namespace telegate::perf
