#include "settings_builder.hpp"

#include "config/nearest_name.hpp"
#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"
#include "ini_text.hpp"
#include "name_advice.hpp"
#include "overloaded.hpp"
#include "section_groups.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

using Entries = std::map<std::string_view, const GivenEntry*>;  // by key, the first entry of each

/// The elements that one source has given for a list so far.
struct List {
    const SettingRow* row = nullptr;
    std::string text = {};
    const GivenEntry* emptied_by = nullptr;  // the last entry, if it was empty
};

/// Returns the last type that a section names, or the default; "" if there is none or it does not exist.
std::string_view type_named_by(const SectionGroup& group) {
    const std::string_view section = group.row->name;
    const SettingRow& row = *find_setting(section, group.row->type_key);
    const auto types = types_of(section);
    const auto known = [&](std::string_view type) {
        const auto found = std::find(types.begin(), types.end(), type);
        return found == types.end() ? std::string_view() : *found;
    };
    std::string_view type = known(default_text(row));
    for (const SectionGroup::Piece& piece : group.pieces) {
        for (const GivenEntry& entry : piece.section->entries) {
            if (entry.key == row.key) {
                type = known(entry.value);
            }
        }
    }
    return type;
}

std::string_view device_of(std::string_view channel) noexcept {
    return channel.substr(0, channel.find('/'));
}

/// Fills one struct with the values that the sources give to one section.
///
/// Threads: one.
/// Limits: one place per key of the table.
/// Failure: reports problems; nothing else can fail.
class SectionFill {
  public:
    SectionFill(const SectionGroup& group, const SettingOwner& owner, Notation notation, ProblemList& problems)
        : group_(group), owner_(owner), notation_(notation), problems_(problems) {}

    void take() {
        const auto& pieces = group_.pieces;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            take(*pieces[i].source, *pieces[i].section);
            if (i + 1 == pieces.size() || pieces[i + 1].source != pieces[i].source) {
                end_source();
            }
        }
    }

    void require_all() {
        const GivenSection& first = *group_.pieces.front().section;
        for (const SettingRow& row : settings_table()) {
            if (belongs(row, group_.row->name, group_.type) && row.required && !given_.contains(row.key)) {
                problems_.add({.place = first.place,
                               .key = first.shown + (first.shown.empty() ? "" : "/") + std::string(row.key),
                               .what = "missing in " + first.title() + "; must be " + allowed_text(row, notation_),
                               .setting = whole_name(row.key)});
            }
        }
    }

    /// Returns where each effective value was given.
    [[nodiscard]] SettingsPlaces take_places() { return std::move(places_); }

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
            if (is_undecided(group_.row->name, group_.type, entry.key)) {
                continue;  // the missing or unknown type is already reported
            }
            const SettingRow* const row = row_for(group_.row->name, group_.type, entry.key);
            if (row == nullptr) {
                complain(entry, misplaced_text({group_.row->name, group_.type, entry.key, section.title()}));
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
        List& list = lists_.try_emplace(row.key, List{&row}).first->second;
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
        places_.insert_or_assign(std::string(row.key), entry.place);
        return true;
    }

    void end_source() {
        for (const auto& [key, list] : lists_) {
            if (list.emptied_by != nullptr) {
                assign_or_complain(*list.row, *list.emptied_by, "");
            }
        }
        for (const SettingRow& row : settings_table()) {
            if (belongs(row, group_.row->name, group_.type) && !row.excludes.empty()) {
                settle(row, *find_setting(row.section, row.excludes, row.type));
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
            places_.erase(std::string(other.key));
        } else if (other_given) {
            reset(row, owner_);
            places_.erase(std::string(row.key));
        }
    }

    const SectionGroup& group_;
    SettingOwner owner_;
    Notation notation_;
    ProblemList& problems_;
    Entries given_;
    SettingsPlaces places_;
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
    SettingsBuilder(Notation notation, ProblemList& problems) : notation_(notation), problems_(problems) {}

    Settings build(std::vector<SectionGroup> groups) {
        find_types(groups);
        for (const SectionGroup& group : groups) {
            add(group);
        }
        return std::move(settings_);
    }

  private:
    void find_types(std::vector<SectionGroup>& groups) {
        for (SectionGroup& group : groups) {
            if (!group.row->type_key.empty()) {
                group.type = type_named_by(group);
            }
            if (group.row->name == "device") {
                // The first group applies; a later one of the same name is refused.
                drivers_.try_emplace(group.name, group.type);
            }
        }
        for (SectionGroup& group : groups) {
            if (const auto found = drivers_.find(device_of(group.name));
                group.row->of_channel() && found != drivers_.end()) {
                group.type = found->second;
            }
        }
    }

    void add(const SectionGroup& group) {
        if (group.refused) {
            Settings scratch;
            SectionFill(group, add_instance(scratch, group.row->name, group.name), notation_, problems_).take();
            return;
        }
        require_device(group);
        const SettingOwner owner = add_instance(settings_, group.row->name, group.name);
        SectionFill fill(group, owner, notation_, problems_);
        fill.take();
        fill.require_all();
        std::visit(
            Overloaded{[&](Settings* settings) { settings->places[std::string(group.row->name)] = fill.take_places(); },
                       [&](NamedSection* section) {
                           section->place = group.pieces.front().section->place;
                           section->places = fill.take_places();
                       }},
            owner);
    }

    /// Requires that the device of a channel exists.
    void require_device(const SectionGroup& group) {
        const std::string_view device = device_of(group.name);
        if (!group.row->of_channel() || drivers_.contains(device)) {
            return;
        }
        const GivenSection& first = *group.pieces.front().section;
        std::vector<std::string_view> devices;
        devices.reserve(drivers_.size());
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

    Notation notation_;
    ProblemList& problems_;
    std::map<std::string_view, std::string_view> drivers_;  // of each given device
    Settings settings_;
};

}  // namespace

Settings build_settings(const std::vector<SettingsSource>& sources, Notation notation, ProblemList& problems) {
    return SettingsBuilder(notation, problems).build(group_sections(sources, problems));
}

Settings settings_from(const std::vector<SettingsSource>& sources, std::vector<SettingsProblem> found,
                       Notation notation) {
    ProblemList problems("");
    for (SettingsProblem& problem : found) {
        problems.add(std::move(problem));
    }
    Settings settings = build_settings(sources, notation, problems);
    problems.throw_if_any(settings);
    return settings;
}

}  // namespace telegate
