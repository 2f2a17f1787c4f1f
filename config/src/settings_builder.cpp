#include "settings_builder.hpp"

#include "config/nearest_name.hpp"
#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"
#include "ini_text.hpp"
#include "name_advice.hpp"
#include "overloaded.hpp"
#include "section_groups.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

using Places = std::map<std::string_view, SettingsPlace>;       // by key
using Entries = std::map<std::string_view, const GivenEntry*>;  // by key, the first entry of each

/// The elements that one source has given for a list so far.
struct List {
    std::string text;
    const GivenEntry* emptied_by = nullptr;  // the last entry, if it was empty
};

/// Returns the last driver that a device names; "" if there is none or it does not exist.
std::string_view driver_named_by(const SectionGroup& group) {
    const SettingRow& row = *find_setting("device", "driver");
    std::string_view driver;
    for (const SectionGroup::Piece& piece : group.pieces) {
        for (const GivenEntry& entry : piece.section->entries) {
            if (entry.key == row.key) {
                DeviceSettings device;
                driver = assign(row, &device, entry.value) ? std::string_view() : std::string_view(entry.value);
            }
        }
    }
    return driver;
}

/// The driver of each given device. The groups must outlive it.
using Drivers = std::map<std::string_view, std::string_view>;

Drivers drivers_of(const std::vector<SectionGroup>& groups) {
    Drivers drivers;
    for (const SectionGroup& group : groups) {
        if (group.row->name == "device") {
            // The first group applies; a later one of the same name is refused.
            drivers.try_emplace(group.name, driver_named_by(group));
        }
    }
    return drivers;
}

std::string_view device_of(std::string_view channel) noexcept {
    return channel.substr(0, channel.find('/'));
}

/// A section to fill.
struct Filling {
    const SectionGroup& group;
    std::string_view driver;  // of the device, or of the channel's device; "" if unknown
    SettingOwner owner;
};

/// Fills one struct with the values that the sources give to one section.
///
/// Threads: one.
/// Limits: one place per key of the table.
/// Failure: reports problems; nothing else can fail.
class SectionFill {
  public:
    SectionFill(const Filling& filling, Notation notation, ProblemList& problems)
        : group_(filling.group),
          owner_(filling.owner),
          driver_(filling.driver),
          notation_(notation),
          problems_(problems) {}

    void take(const std::vector<SettingsSource>& sources) {
        const auto& pieces = group_.pieces;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const SettingsSource& source = sources[pieces[i].source];
            take(source, *pieces[i].section);
            if (i + 1 == pieces.size() || pieces[i + 1].source != pieces[i].source) {
                end_source();
            }
        }
    }

    void require_all() {
        const GivenSection& first = *group_.pieces.front().section;
        for (const SettingRow& row : settings_table()) {
            if (belongs(row, group_.row->name, driver_) && row.required && !given_.contains(row.key)) {
                problems_.add({.place = first.place,
                               .key = first.shown + (first.shown.empty() ? "" : "/") + std::string(row.key),
                               .what = "missing in " + first.title() + "; must be " + allowed_text(row, notation_),
                               .setting = whole_name(row.key)});
            }
        }
    }

    /// Returns where each effective value was given.
    [[nodiscard]] const Places& origins() const noexcept { return origins_; }

  private:
    /// Returns "queue.policy", "device.boiler.seed", or for [gateway] the key alone, as in --set.
    [[nodiscard]] std::string whole_name(std::string_view key) const {
        const std::string section = group_.row->name == "gateway" ? "" : std::string(group_.row->name) + '.';
        return printable(section + (group_.name.empty() ? "" : group_.name + '.') + std::string(key));
    }

    void complain(const GivenEntry& entry, std::string what) {
        problems_.add(
            {.place = entry.place, .key = entry.shown, .what = std::move(what), .setting = whole_name(entry.key)});
    }

    void take(const SettingsSource& source, const GivenSection& section) {
        for (const GivenEntry& entry : section.entries) {
            if (is_undecided(group_.row->name, driver_, entry.key)) {
                continue;  // the missing or unknown driver is already reported
            }
            const SettingRow* const row = row_for(group_.row->name, driver_, entry.key);
            if (row == nullptr) {
                complain(entry, misplaced_text({group_.row->name, driver_, entry.key, section.title()}));
                continue;
            }
            const auto [found, is_new] = given_here_.try_emplace(row->key, &entry);
            if (!is_new && !is_list(*row) && !source.last_wins) {
                complain(entry, "duplicate (first defined on line " + std::to_string(found->second->place.line) + ")");
            }
            store(*row, entry);
        }
    }

    void store(const SettingRow& row, const GivenEntry& entry) {
        if (!is_list(row) || !entry.fault.empty()) {
            assign_or_complain(row, entry, entry.value);
            return;
        }
        List& list = lists_[row.key];
        list.emptied_by = entry.value.empty() ? &entry : nullptr;
        const std::string text = (list.text.empty() || entry.value.empty() ? "" : list.text + ", ") + entry.value;
        // A longer list could not be written as one line. Each addition parses the whole list again, so the limit also
        // bounds the work.
        if (text.size() > ini_line_bytes_max) {
            complain(entry, "list too long; must be at most " + std::to_string(ini_line_bytes_max) + " bytes in total");
        } else if (entry.value.empty() || assign_or_complain(row, entry, text)) {
            list.text = text;
        }
    }

    bool assign_or_complain(const SettingRow& row, const GivenEntry& entry, std::string_view text) {
        const std::optional<std::string> fault = entry.fault.empty()
                                                     ? assign(row, owner_, text, notation_)
                                                     : entry.fault + "; must be " + allowed_text(row, notation_);
        if (fault) {
            complain(entry, *fault);
            return false;
        }
        origins_.insert_or_assign(row.key, entry.place);
        return true;
    }

    void end_source() {
        for (const auto& [key, list] : lists_) {
            if (list.emptied_by != nullptr) {
                assign_or_complain(*row_for(group_.row->name, driver_, key), *list.emptied_by, "");
            }
        }
        for (const SettingRow& row : settings_table()) {
            if (belongs(row, group_.row->name, driver_) && !row.excludes.empty()) {
                settle(row, *find_setting(row.section, row.excludes, row.driver));
            }
        }
        given_.merge(given_here_);
        given_here_.clear();
        lists_.clear();
    }

    /// Resolves two settings that exclude each other: the one from the later source applies.
    void settle(const SettingRow& row, const SettingRow& other) {
        const auto given = given_here_.find(row.key);
        const bool other_given = given_here_.contains(other.key);
        if (given != given_here_.end() && other_given) {
            complain(*given->second, "conflicts with " + std::string(other.key) + "; set only one of the two");
        } else if (given != given_here_.end()) {
            reset(other, owner_);
            origins_.erase(other.key);
        } else if (other_given) {
            reset(row, owner_);
            origins_.erase(row.key);
        }
    }

    const SectionGroup& group_;
    SettingOwner owner_;
    std::string_view driver_;
    Notation notation_;
    ProblemList& problems_;
    Entries given_;
    Places origins_;
    // Of the current source:
    Entries given_here_;
    std::map<std::string_view, List> lists_;
};

/// Fills a Settings value from all groups.
///
/// Threads: one.
/// Limits: as many sections as the table allows; the others are only checked.
/// Failure: reports problems; nothing else can fail.
class SettingsBuilder {
  public:
    SettingsBuilder(const std::vector<SettingsSource>& sources, Notation notation, ProblemList& problems)
        : sources_(sources), notation_(notation), problems_(problems) {}

    LoadedSettings build(const std::vector<SectionGroup>& groups) {
        drivers_ = drivers_of(groups);
        for (const SectionGroup& group : groups) {
            add(group);
        }
        return std::move(loaded_);
    }

  private:
    void add(const SectionGroup& group) {
        if (group.refused) {
            DefaultOwners scratch;
            SectionFill({group, driver_of(group), scratch.of(group.row->name)}, notation_, problems_).take(sources_);
            return;
        }
        require_device(group);
        const SettingOwner owner = add_instance(loaded_.settings, group.row->name, group.name);
        SectionFill fill({group, driver_of(group), owner}, notation_, problems_);
        fill.take(sources_);
        fill.require_all();
        for (const auto& [key, place] : fill.origins()) {
            loaded_.origins.given.insert_or_assign({std::string(group.row->name), group.name, std::string(key)}, place);
        }
        keep_places(group, owner, fill.origins());
    }

    [[nodiscard]] std::string_view driver_of(const SectionGroup& group) const {
        if (group.row->name == "device") {
            return driver_named_by(group);
        }
        const auto found = group.row->of_channel() ? drivers_.find(device_of(group.name)) : drivers_.end();
        return found == drivers_.end() ? std::string_view() : found->second;
    }

    /// Requires that the device of a channel exists.
    void require_device(const SectionGroup& group) {
        const std::string_view device = device_of(group.name);
        if (!group.row->of_channel() || drivers_.contains(device)) {
            return;
        }
        const GivenSection& first = *group.pieces.front().section;
        std::vector<std::string_view> devices;
        for (const auto& [name, driver] : drivers_) {
            devices.push_back(name);
        }
        const std::string_view near = nearest_name(device, devices);
        problems_.add({.place = first.place,
                       .key = first.shown.empty() ? first.title() : first.shown,
                       .what = "unknown device: no section [device \"" + printable(device) + "\"]" +
                               (near.empty() ? "" : "; did you mean " + printable(near) + "?"),
                       .setting = printable(std::string(group.row->name) + '.' + group.name)});
    }

    /// Keeps the places of keys for problems that are only found when the values are used.
    void keep_places(const SectionGroup& group, SettingOwner owner, const Places& origins) {
        const SettingsPlace& first = group.pieces.front().section->place;
        const auto place_of = [&](std::string_view key) {
            const auto found = origins.find(key);
            return found == origins.end() ? first : found->second;
        };
        const SettingsPlaces places{origins.begin(), origins.end()};
        std::visit(Overloaded{[&](Settings* settings) {
                                  if (group.row->name == "sampling" && origins.contains("cpu_affinity")) {
                                      settings->cpu_affinity_place = place_of("cpu_affinity");
                                  } else if (group.row->name == "rest") {
                                      settings->rest.places = places;
                                  }
                              },
                              [&](DeviceSettings* device) {
                                  device->place = first;
                                  device->places = places;
                              },
                              [&](ChannelSettings* channel) {
                                  channel->place = first;
                                  channel->places = places;
                              },
                              [&](auto* endpoint) {
                                  endpoint->place = place_of("endpoint");
                                  endpoint->places = places;
                              }},
                   owner);
    }

    const std::vector<SettingsSource>& sources_;
    Notation notation_;
    ProblemList& problems_;
    Drivers drivers_;
    LoadedSettings loaded_;
};

}  // namespace

LoadedSettings build_settings(const std::vector<SettingsSource>& sources, Notation notation, ProblemList& problems) {
    return SettingsBuilder(sources, notation, problems).build(group_sections(sources, problems));
}

LoadedSettings settings_from(const std::vector<SettingsSource>& sources, std::vector<SettingsProblem> found,
                             Notation notation) {
    ProblemList problems("");
    for (SettingsProblem& problem : found) {
        problems.add(std::move(problem));
    }
    LoadedSettings loaded = build_settings(sources, notation, problems);
    problems.throw_if_any(loaded.settings);
    return loaded;
}

}  // namespace telegate
