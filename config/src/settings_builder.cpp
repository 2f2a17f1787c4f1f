#include "settings_builder.hpp"

#include "config/settings_table.hpp"
#include "nearest_name.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

using Lines = std::map<std::string_view, std::size_t>;  // where a key was first given

/// A section on its way into the struct that it fills.
struct Target {
    const IniSection& section;
    std::string_view kind;    // as in the table
    std::string_view driver;  // of a device; "" when it is missing or unknown: then keys of every driver are accepted
    SettingOwner owner;
    Lines& given;
};

bool is_instance_name(std::string_view name) noexcept {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    };
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), allowed);
}

std::string heading(const SectionRow& row) {
    return "[" + std::string(row.name) + (row.named() ? " \"NAME\"]" : "]");
}

std::string did_you_mean(std::string_view text, const std::vector<std::string_view>& names) {
    if (const std::string_view near = nearest_name(text, names); !near.empty()) {
        return ", did you mean " + std::string(near) + "?";
    }
    std::string list;
    for (const std::string_view name : names) {
        list += (list.empty() ? "" : ", ") + std::string(name);
    }
    return ", allowed: " + list;
}

std::vector<std::string_view> known_keys(const Target& target) {
    std::vector<std::string_view> keys;
    for (const SettingRow& row : settings_table()) {
        const bool fits = row.driver.empty() || target.driver.empty() || row.driver == target.driver;
        if (row.section == target.kind && fits) {
            keys.push_back(row.key);
        }
    }
    return keys;
}

template <class Condition>
const SettingRow* find_row(Condition condition) {
    const auto rows = settings_table();
    const auto found = std::find_if(rows.begin(), rows.end(), condition);
    return found == rows.end() ? nullptr : &*found;
}

/// Why `key` has no place in the section of `target`, and what has.
std::string misplaced_text(const Target& target, std::string_view key) {
    const auto is_key = [&](const SettingRow& row) {
        return row.key == key;
    };
    const auto is_key_here = [&](const SettingRow& row) {
        return row.key == key && row.section == target.kind;
    };
    if (const SettingRow* const row = find_row(is_key_here)) {
        return "is a setting of the driver " + std::string(row->driver) + ", but the driver of this device is " +
               std::string(target.driver);
    }
    const std::string unknown = "is not a setting of " + target.section.title();
    if (const SettingRow* const row = find_row(is_key)) {
        return unknown + ", it belongs in " + heading(*find_section(row->section));
    }
    return unknown + did_you_mean(key, known_keys(target));
}

/// The row for a key of `target`; nullptr when the key has no place there.
const SettingRow* row_for(const Target& target, std::string_view key) {
    if (const SettingRow* const row = find_setting(target.kind, key, target.driver)) {
        return row;
    }
    return find_row(
        [&](const SettingRow& row) { return target.driver.empty() && row.section == target.kind && row.key == key; });
}

/// The driver that a device names; "" when it names none or one that does not exist.
std::string_view driver_of(const IniSection& section) {
    const SettingRow* const row = find_setting("device", "driver");
    DeviceSettings device;
    for (const IniEntry& entry : section.entries) {
        if (entry.key == "driver" && row != nullptr && !assign(*row, &device, entry.value)) {
            return entry.value;
        }
    }
    return {};
}

class SettingsBuilder {
  public:
    explicit SettingsBuilder(ProblemList& problems) : problems_(problems) {}

    void add(const IniSection& section) {
        if (section.kind.empty()) {
            fill({section, "gateway", "", &settings_, given_["gateway"]});
        } else if (const SectionRow* const row = find_section(section.kind); row == nullptr) {
            complain_unknown(section);
        } else if (row->named()) {
            add_named(section, *row);
        } else {
            add_single(section, *row);
        }
    }

    [[nodiscard]] Settings take() {
        if (const Lines& lines = given_["sampling"]; lines.contains("cpu_affinity")) {
            settings_.cpu_affinity_place = place(lines.at("cpu_affinity"));
        }
        for (const auto& [key, line] : given_["rest"]) {
            settings_.rest.places.emplace(key, place(line));
        }
        return std::move(settings_);
    }

  private:
    void complain_unknown(const IniSection& section) {
        std::vector<std::string_view> names;
        for (const SectionRow& row : section_table()) {
            names.push_back(row.name);
        }
        problems_.add(section.line, "",
                      section.title() + " is not a known section" + did_you_mean(section.kind, names));
    }

    void add_single(const IniSection& section, const SectionRow& row) {
        if (section.name) {
            problems_.add(section.line, "", section.title() + " must not have a name, allowed: " + heading(row));
        }
        (void)is_first(section, row.name);
        fill({section, row.name, "", &settings_, given_[row.name]});
    }

    /// A section that is refused is still checked, so that all its problems show at once.
    void add_named(const IniSection& section, const SectionRow& row) {
        if (!is_name_good(section, row) || !is_first(section, section.title()) || !has_room(section, row)) {
            check_only(section, row);
        } else if (row.name == "publish") {
            PublishSettings& publish = settings_.publish.emplace_back();
            publish.name = *section.name;
            const Lines lines = fill_instance(section, row, &publish);
            publish.place = place(lines.contains("endpoint") ? lines.at("endpoint") : section.line);
        } else {
            DeviceSettings& device = settings_.devices.emplace_back();
            device.name = *section.name;
            device.place = place(section.line);
            fill_instance(section, row, &device);
        }
    }

    SettingsPlace place(std::size_t line) const { return {problems_.file(), line}; }

    /// Returns where each key stands.
    Lines fill_instance(const IniSection& section, const SectionRow& row, SettingOwner owner) {
        Lines given;
        fill({section, row.name, row.name == "device" ? driver_of(section) : "", owner, given});
        for (const SettingRow& setting : settings_table()) {
            if (setting.section == row.name && setting.required && !given.contains(setting.key)) {
                problems_.add(section.line, setting.key,
                              "is missing in " + section.title() + ", allowed: " + allowed_text(setting));
            }
            if (setting.section == row.name && given.contains(setting.key) && given.contains(setting.excludes)) {
                problems_.add(given.at(setting.key), setting.key,
                              "stands beside " + std::string(setting.excludes) + ", allowed: one of the two");
            }
        }
        return given;
    }

    void check_only(const IniSection& section, const SectionRow& row) {
        DefaultOwners scratch;
        Lines given;
        fill({section, row.name, row.name == "device" ? driver_of(section) : "", scratch.of(row.name), given});
    }

    bool is_name_good(const IniSection& section, const SectionRow& row) {
        if (!section.name) {
            problems_.add(section.line, "", section.title() + " has no name, allowed: " + heading(row));
        } else if (!is_instance_name(*section.name)) {
            problems_.add(section.line, "",
                          section.title() + " has a bad name, allowed: 1 to 64 of the characters a-z 0-9 _ . -");
        } else {
            return true;
        }
        return false;
    }

    bool is_first(const IniSection& section, std::string_view identity) {
        const auto [found, is_new] = section_lines_.try_emplace(std::string(identity), section.line);
        if (!is_new) {
            problems_.add(section.line, "",
                          section.title() + " is there twice, first in line " + std::to_string(found->second));
        }
        return is_new;
    }

    bool has_room(const IniSection& section, const SectionRow& row) {
        const std::size_t number = ++counts_[row.name];
        if (number == row.count_max + 1) {
            problems_.add(section.line, "",
                          section.title() + " is one too many, allowed are at most " + std::to_string(row.count_max) +
                              " sections " + heading(row));
        }
        return number <= row.count_max;
    }

    void fill(const Target& target) {
        for (const IniEntry& entry : target.section.entries) {
            const SettingRow* const row = row_for(target, entry.key);
            if (row == nullptr) {
                problems_.add(entry.line, printable(entry.key), misplaced_text(target, entry.key));
                continue;
            }
            const auto [found, is_new] = target.given.try_emplace(row->key, entry.line);
            if (!is_new) {
                problems_.add(entry.line, entry.key, "is there twice, first in line " + std::to_string(found->second));
            }
            if (const std::optional<std::string> fault = assign(*row, target.owner, entry.value)) {
                problems_.add(entry.line, entry.key, *fault);
            }
        }
    }

    ProblemList& problems_;
    Settings settings_;
    std::map<std::string_view, Lines> given_;           // by section that has no name
    std::map<std::string, std::size_t> section_lines_;  // where a section first stood
    std::map<std::string_view, std::size_t> counts_;    // named sections so far
};

}  // namespace

Settings build_settings(const std::vector<IniSection>& sections, ProblemList& problems) {
    SettingsBuilder builder(problems);
    for (const IniSection& section : sections) {
        builder.add(section);
    }
    return builder.take();
}

}  // namespace telegate
