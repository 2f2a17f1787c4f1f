#include "settings_builder.hpp"

#include "config/nearest_name.hpp"
#include "config/settings_table.hpp"
#include "ini_text.hpp"
#include "name_advice.hpp"
#include "section_groups.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

using Places = std::map<std::string_view, SettingsPlace>;       // by key
using Entries = std::map<std::string_view, const GivenEntry*>;  // by key, the first that gave it

/// What one source has given to a list so far.
struct List {
    std::string text;
    const GivenEntry* emptied_by = nullptr;  // when that came last
};

/// The driver that a device names last; "" when that is none or one that does not exist.
std::string_view driver_of(const SectionGroup& group) {
    const SettingRow* const row = find_setting(group.row->name, "driver");
    std::string_view driver;
    for (const SectionGroup::Piece& piece : group.pieces) {
        for (const GivenEntry& entry : piece.section->entries) {
            DeviceSettings device;
            if (entry.key == "driver" && row != nullptr) {
                driver = assign(*row, &device, entry.value) ? std::string_view() : std::string_view(entry.value);
            }
        }
    }
    return driver;
}

/// Fills one struct with what the sources give to one section.
///
/// Threads: one.
/// Limits:  a place per key of the table.
/// Failure: tells the problems; nothing else can fail.
class SectionFill {
  public:
    SectionFill(const SectionGroup& group, SettingOwner owner, Notation notation, ProblemList& problems)
        : group_(group), owner_(owner), driver_(driver_of(group)), notation_(notation), problems_(problems) {}

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
            const bool is_ours = row.section == group_.row->name && (row.driver.empty() || row.driver == driver_);
            if (is_ours && row.required && !given_.contains(row.key)) {
                problems_.add({.file = first.place.file,
                               .line = first.place.line,
                               .key = first.shown + (first.shown.empty() ? "" : "/") + std::string(row.key),
                               .what = "is missing in " + first.title() + ", allowed: " + allowed_text(row, notation_),
                               .setting = whole_name(row.key)});
            }
        }
    }

    /// Where each value that holds was given.
    [[nodiscard]] const Places& origins() const noexcept { return origins_; }

  private:
    /// "queue.policy", "device.boiler.seed"; of [gateway] the key alone, as --set has it.
    [[nodiscard]] std::string whole_name(std::string_view key) const {
        const std::string section = group_.row->name == "gateway" ? "" : std::string(group_.row->name) + '.';
        return printable(section + (group_.name.empty() ? "" : group_.name + '.') + std::string(key));
    }

    void complain(const GivenEntry& entry, std::string what) {
        problems_.add({.file = entry.place.file,
                       .line = entry.place.line,
                       .key = entry.shown,
                       .what = std::move(what),
                       .setting = whole_name(entry.key)});
    }

    void take(const SettingsSource& source, const GivenSection& section) {
        for (const GivenEntry& entry : section.entries) {
            const SettingRow* const row = row_for(group_.row->name, driver_, entry.key);
            if (row == nullptr) {
                complain(entry, misplaced_text({group_.row->name, driver_, entry.key, section.title()}));
                continue;
            }
            const auto [found, is_new] = given_here_.try_emplace(row->key, &entry);
            if (!is_new && !is_list(*row) && !source.last_wins) {
                complain(entry, "is there twice, first in line " + std::to_string(found->second->place.line));
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
        // Longer, it could not be written as one line, and each line reads it all again.
        if (text.size() > ini_line_bytes_max) {
            complain(entry, "makes the list too long, allowed: at most " + std::to_string(ini_line_bytes_max) +
                                " bytes in all");
        } else if (entry.value.empty() || assign_or_complain(row, entry, text)) {
            list.text = text;
        }
    }

    bool assign_or_complain(const SettingRow& row, const GivenEntry& entry, std::string_view text) {
        const std::optional<std::string> fault = entry.fault.empty()
                                                     ? assign(row, owner_, text, notation_)
                                                     : entry.fault + ", allowed: " + allowed_text(row, notation_);
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
            if (row.section == group_.row->name && !row.excludes.empty()) {
                settle(row, *row_for(row.section, row.driver, row.excludes));
            }
        }
        given_.merge(given_here_);
        given_here_.clear();
        lists_.clear();
    }

    /// Of two settings that exclude each other, the one from the later source holds.
    void settle(const SettingRow& row, const SettingRow& other) {
        const auto given = given_here_.find(row.key);
        const bool other_given = given_here_.contains(other.key);
        if (given != given_here_.end() && other_given) {
            complain(*given->second, "stands beside " + std::string(other.key) + ", allowed: one of the two");
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
    std::string_view driver_;  // of a device
    Notation notation_;
    ProblemList& problems_;
    Entries given_;
    Places origins_;
    // Of the source that is being taken:
    Entries given_here_;
    std::map<std::string_view, List> lists_;
};

/// Gives all groups their place in a Settings value.
///
/// Threads: one.
/// Limits:  as many sections as the table allows; the others are only checked.
/// Failure: tells the problems; nothing else can fail.
class SettingsBuilder {
  public:
    SettingsBuilder(const std::vector<SettingsSource>& sources, Notation notation, ProblemList& problems)
        : sources_(sources), notation_(notation), problems_(problems) {}

    void add(const SectionGroup& group) {
        if (group.refused) {
            DefaultOwners scratch;
            SectionFill(group, scratch.of(group.row->name), notation_, problems_).take(sources_);
            return;
        }
        SectionFill fill(group, owner_of(group), notation_, problems_);
        fill.take(sources_);
        fill.require_all();
        for (const auto& [key, place] : fill.origins()) {
            loaded_.origins.given.insert_or_assign({std::string(group.row->name), group.name, std::string(key)}, place);
        }
        keep_place(group, fill.origins());
    }

    LoadedSettings take() { return std::move(loaded_); }

  private:
    SettingOwner owner_of(const SectionGroup& group) {
        Settings& settings = loaded_.settings;
        if (group.row->name == "publish") {
            settings.publish.emplace_back().name = group.name;
            return &settings.publish.back();
        }
        if (group.row->name == "services") {
            settings.services.emplace_back().name = group.name;
            return &settings.services.back();
        }
        if (group.row->name == "device") {
            settings.devices.emplace_back().name = group.name;
            return &settings.devices.back();
        }
        return &settings;
    }

    /// For what only shows when the values are used.
    void keep_place(const SectionGroup& group, const Places& origins) {
        const auto place_of = [&](std::string_view key) {
            const auto found = origins.find(key);
            return found == origins.end() ? group.pieces.front().section->place : found->second;
        };
        Settings& settings = loaded_.settings;
        if (group.row->name == "publish") {
            settings.publish.back().place = place_of("endpoint");
            settings.publish.back().places = {origins.begin(), origins.end()};
        } else if (group.row->name == "services") {
            settings.services.back().place = place_of("endpoint");
            settings.services.back().places = {origins.begin(), origins.end()};
        } else if (group.row->name == "device") {
            settings.devices.back().place = group.pieces.front().section->place;
        } else if (group.row->name == "sampling" && origins.contains("cpu_affinity")) {
            settings.cpu_affinity_place = place_of("cpu_affinity");
        } else if (group.row->name == "rest") {
            for (const auto& [key, place] : origins) {
                settings.rest.places.emplace(key, place);
            }
        }
    }

    const std::vector<SettingsSource>& sources_;
    Notation notation_;
    ProblemList& problems_;
    LoadedSettings loaded_;
};

}  // namespace

LoadedSettings build_settings(const std::vector<SettingsSource>& sources, Notation notation, ProblemList& problems) {
    SettingsBuilder builder(sources, notation, problems);
    for (const SectionGroup& group : group_sections(sources, problems)) {
        builder.add(group);
    }
    return builder.take();
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
