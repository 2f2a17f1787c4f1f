#include "config/hidden_secrets.hpp"

#include "config/joined.hpp"
#include "config/settings_instances.hpp"
#include "config/text_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace telegate {
namespace {

constexpr std::string_view hidden = "***";

std::string without_url_secrets(std::string_view text) {
    constexpr std::string_view scheme_end = "://";
    std::string out;
    for (std::size_t at = text.find(scheme_end); at != std::string_view::npos; at = text.find(scheme_end)) {
        const std::size_t begin = at + scheme_end.size();
        const std::size_t end = std::min(text.find_first_of(" \t\"'", begin), text.size());
        std::string_view url = text.substr(begin, end - begin);
        out += text.substr(0, begin);
        const std::size_t user_end = url.substr(0, url.find_first_of("/?#")).rfind('@');
        if (user_end != std::string_view::npos) {
            out += hidden;
            url.remove_prefix(user_end);
        }
        const std::size_t query = url.find('?');
        out += query == std::string_view::npos ? std::string(url)
                                               : std::string(url.substr(0, query + 1)) + std::string(hidden);
        text.remove_prefix(end);
    }
    return out + std::string(text);
}

std::string shown_part(Holds::Kind kind, std::string_view value) {
    if (kind != Holds::secret || value.empty()) {
        return without_url_secrets(value);
    }
    const std::size_t name_end = value.find('=');
    return std::string(value.substr(0, name_end == std::string_view::npos ? 0 : name_end + 1)) + std::string(hidden);
}

}  // namespace

bool may_hold_secrets(const SettingRow& row) noexcept {
    const Holds::Kind kind = holds_of(row).kind();
    return kind == Holds::secret || kind == Holds::destination || kind == Holds::program;
}

std::string shown_value(const SettingRow& row, std::string_view value) {
    const Holds::Kind kind = holds_of(row).kind();
    if (!may_hold_secrets(row)) {
        return std::string(value);
    }
    if (!is_list(row)) {
        return shown_part(kind, value);
    }
    std::vector<std::string> shown;
    for (const std::string_view part : comma_parts(value)) {
        shown.push_back(shown_part(kind, part));
    }
    return joined(shown);
}

std::string shown_text(const SettingRow& row, const SettingOwner& owner) {
    return shown_value(row, value_text(row, owner));
}

std::string shown_message(const SettingRow& row, const SettingOwner& owner, std::string message) {
    const std::string value = value_text(row, owner);
    for (const std::string_view part : is_list(row) ? comma_parts(value) : std::vector<std::string_view>{value}) {
        const std::string shown = shown_value(row, part);
        if (shown == part) {
            continue;
        }
        for (std::size_t at = message.find(part); at != std::string::npos; at = message.find(part, at + shown.size())) {
            message.replace(at, part.size(), shown);
        }
    }
    return message;
}

void restore_hidden(Settings& settings, const Settings& known) {
    std::map<SettingKey, std::pair<const SettingRow*, SettingOwner>> hiding;
    Settings from = known;  // the table's slots need mutable settings
    walk(from, [&](const SettingSpot& spot) {
        if (may_hold_secrets(spot.row) && shown_text(spot.row, spot.owner) != value_text(spot.row, spot.owner)) {
            hiding.emplace(spot.key(), std::pair(&spot.row, spot.owner));
        }
    });
    if (hiding.empty()) {
        return;
    }
    walk(settings, [&](const SettingSpot& spot) {
        const auto found = may_hold_secrets(spot.row) ? hiding.find(spot.key()) : hiding.end();
        if (found == hiding.end() || found->second.first != &spot.row) {
            return;
        }
        const SettingOwner& owner = found->second.second;
        if (value_text(spot.row, spot.owner) == shown_text(spot.row, owner)) {
            (void)assign(spot.row, spot.owner, value_text(spot.row, owner));
        }
    });
}

}  // namespace telegate
