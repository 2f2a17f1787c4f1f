#include "settings/settings_json.hpp"

#include "config/hidden_secrets.hpp"
#include "config/settings_diff.hpp"
#include "config/settings_instances.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

struct JsonOf {
    Json operator()(std::monostate) const { return nullptr; }
    template <class Value>
    Json operator()(const Value& value) const {
        return value;
    }
};

Json value_of(const SettingSpot& spot) {
    const SettingValue value = spot.row.slot.get(spot.owner);
    const auto* const whole = std::get_if<WholeRule>(&spot.row.rule);
    const bool is_word = whole != nullptr && !whole->zero_word.empty() && value == SettingValue(std::int64_t{0});
    return is_word ? Json(whole->zero_word) : std::visit(JsonOf(), value);
}

/// Like value_of(), without secrets.
Json shown_value_of(const SettingSpot& spot) {
    Json value = value_of(spot);
    if (may_hold_secrets(spot.row)) {
        const bool is_list = value.is_array();
        Json texts = is_list ? std::move(value) : Json::array({std::move(value)});
        for (Json& text : texts) {
            text = shown_value(spot.row, text.get<std::string>());
        }
        value = is_list ? std::move(texts) : std::move(texts[0]);
    }
    return value;
}

/// `value` returns the JSON of a setting.
template <class Value>
Json document(const Settings& settings, const Value& value) {
    Json json = Json::object();
    Settings copy = settings;
    std::string_view section_name;
    const std::string* instance = nullptr;
    // cached for this instance: looking it up for each setting is slow with thousands of instances
    Json* fields = nullptr;
    walk(copy, [&](const SettingSpot& spot) {
        if (is_unset(spot.row, spot.owner)) {
            return;
        }
        if (spot.row.section != section_name || &spot.name != instance) {
            section_name = spot.row.section;
            instance = &spot.name;
            Json& section = json[std::string(section_name)];
            fields = spot.name.empty() ? &section : &section[spot.name];
            fields->update(Json::object());
        }
        // There may be thousands of channels with few settings each.
        if (spot.row.section != "channel" || value_text(spot.row, spot.owner) != default_text(spot.row)) {
            (*fields)[std::string(spot.row.key)] = value(spot);
        }
    });
    return json;
}

std::string text_of(const Json& document) {
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

Json settings_document(const Settings& settings) {
    return document(settings, value_of);
}

std::string settings_json(const Settings& settings) {
    return text_of(settings_document(settings));
}

std::string shown_settings_json(const Settings& settings) {
    return text_of(document(settings, shown_value_of));
}

std::string settings_origins_json(const Settings& settings, const Settings& sources) {
    std::set<SettingKey> changed;  // a whole section has no key
    for (const SettingChange& change : diff(sources, settings)) {
        changed.insert({change.section, change.name, change.key});
    }
    std::map<SettingKey, std::string> given;
    Settings copy = sources;
    walk(copy, [&](const SettingSpot& spot) {
        if (std::string origin = spot.origin(); origin != "default") {
            given.emplace(spot.key(), std::move(origin));
        }
    });
    return text_of(document(settings, [&](const SettingSpot& spot) {
        const SettingKey key = spot.key();
        const bool is_changed = changed.contains(key) || changed.contains({key.section, key.name, ""});
        const auto found = given.find(key);
        return is_changed ? "changed at run time" : found == given.end() ? "default" : found->second;
    }));
}

std::string settings_hash(const Settings& settings) {
    std::uint64_t hash = 0xcbf29ce484222325;                    // FNV-1a
    const nlohmann::json sorted = settings_document(settings);  // its objects are in alphabetical order
    for (const char c : sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    std::array<char, 16> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16);
    const std::string text(digits.data(), end);
    return std::string(digits.size() - text.size(), '0') + text;
}

}  // namespace telegate
