#include "plan/reachable_listeners.hpp"

#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"
#include "core/endpoint.hpp"
#include "http/host_name.hpp"

#include <variant>

namespace telegate {
namespace {

constexpr std::string_view curve_key = "curve_secret_key_file";

/// Returns whether other machines can reach an address. A text that is not an endpoint, such as a multicast group,
/// counts as reachable; the plan refuses an endpoint that cannot be parsed.
bool is_reachable(const SettingSpot& spot, const std::string& value) {
    const SettingSlot slot = spot.row.slot(spot.owner);
    if (const auto* const listen = std::get_if<ListenSlot>(&slot)) {
        return !listen->host->empty() && !is_loopback(*listen->host);
    }
    const auto* const rule = std::get_if<TextRule>(&spot.row.rule);
    if (rule == nullptr || rule->prefixes.empty()) {
        return !value.empty();
    }
    const auto parsed = parse_endpoint(value);
    const auto* const endpoint = std::get_if<Endpoint>(&parsed);
    return endpoint != nullptr && endpoint->path.empty() && !is_loopback(endpoint->host);
}

bool is_protected(const SettingSpot& spot) {
    const SettingRow* const curve = find_setting(spot.row.section, curve_key);
    return curve != nullptr && !value_text(*curve, spot.owner).empty();
}

}  // namespace

std::map<SettingKey, std::string> reachable_listeners(const Settings& settings) {
    Settings copy = settings;  // walk() could change it
    std::map<SettingKey, std::string> listeners;
    walk(copy, [&](const SettingSpot& spot) {
        if (holds_of(spot.row).kind() != Holds::listener || spot.row.applies == Applies::restart) {
            return;
        }
        std::string value = value_text(spot.row, spot.owner);
        if (is_reachable(spot, value) && !is_protected(spot)) {
            listeners.emplace(spot.key(), std::move(value));
        }
    });
    return listeners;
}

std::string reachable_listener_fault(const SettingKey& key, const std::string& value) {
    const std::string curve =
        find_setting(key.section, curve_key) != nullptr ? " unless " + std::string(curve_key) + " is set" : "";
    return '"' + value + "\" is reachable from other machines: over REST must be a loopback address such as 127.0.0.1" +
           curve + "; otherwise set it in the settings file";
}

}  // namespace telegate
