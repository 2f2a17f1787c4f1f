#include "section_groups.hpp"

#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"
#include "name_advice.hpp"

#include <map>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

/// Sorts sections into groups.
///
/// Threads: one.
/// Limits: as many groups as there are sections in the sources, whose texts are bounded.
/// Failure: reports problems; nothing else can fail.
class Grouping {
  public:
    explicit Grouping(ProblemList& problems) : problems_(problems) {}

    void begin_source() { lines_.clear(); }

    void add(const SettingsSource& source, const GivenSection& section) {
        const std::string_view kind = section.kind.empty() ? "gateway" : std::string_view(section.kind);
        const SectionRow* const row = find_section(kind);
        if (row == nullptr) {
            problems_.add(section.place, section.shown, "unknown section: " + section.title() + section_advice(kind));
            return;
        }
        bool refused = !is_name_good(section, *row);
        if (!source.last_wins && !section.kind.empty() && !is_first(section, *row)) {
            refused = refused || row->named();
        }
        place_in_group({&source, &section}, *row, refused);
    }

    std::vector<SectionGroup> take() { return std::move(groups_); }

  private:
    void place_in_group(SectionGroup::Piece piece, const SectionRow& row, bool refused) {
        const GivenSection& section = *piece.section;
        const std::string name = row.named() && section.name ? *section.name : "";
        const auto known = places_.find({row.name, name});
        if (!refused && known != places_.end()) {
            groups_[known->second].pieces.push_back(piece);
            return;
        }
        if (!refused) {
            refused = row.named() && !has_room(section, row);
        }
        if (!refused) {
            places_[{row.name, name}] = groups_.size();
        }
        groups_.push_back({.row = &row, .name = name, .refused = refused, .pieces = {piece}});
    }

    bool is_name_good(const GivenSection& section, const SectionRow& row) {
        if (!row.named()) {
            if (section.name) {
                problems_.add(section.place, section.shown,
                              "unexpected name: " + section.title() + "; must be " + heading(row));
            }
            return true;
        }
        if (!section.name) {
            problems_.add(section.place, section.shown,
                          "missing name: " + section.title() + "; must be " + heading(row));
            return false;
        }
        if (!is_name_allowed(row, *section.name)) {
            problems_.add(section.place, section.shown,
                          "invalid name: " + section.title() + "; must be " + allowed_name(row));
            return false;
        }
        return true;
    }

    bool is_first(const GivenSection& section, const SectionRow& row) {
        const std::string identity = std::string(row.name) + '/' + (row.named() ? section.name.value_or("") : "");
        const auto [found, is_new] = lines_.try_emplace(identity, section.place.line);
        if (!is_new) {
            problems_.add(
                section.place, section.shown,
                "duplicate: " + section.title() + " (first defined on line " + std::to_string(found->second) + ")");
        }
        return is_new;
    }

    bool has_room(const GivenSection& section, const SectionRow& row) {
        const std::size_t number = ++counts_[row.name];
        if (number == row.count_max + 1) {
            problems_.add(section.place, section.shown,
                          "too many sections: " + section.title() + "; must be at most " +
                              std::to_string(row.count_max) + " sections " + heading(row));
        }
        return number <= row.count_max;
    }

    ProblemList& problems_;
    std::vector<SectionGroup> groups_;
    std::map<std::pair<std::string_view, std::string>, std::size_t> places_;  // of groups, by section and name
    std::map<std::string, std::size_t> lines_;                                // of the sections of this source
    std::map<std::string_view, std::size_t> counts_;                          // named sections so far
};

}  // namespace

std::vector<SectionGroup> group_sections(const std::vector<SettingsSource>& sources, ProblemList& problems) {
    Grouping grouping(problems);
    for (const SettingsSource& source : sources) {
        grouping.begin_source();
        for (const GivenSection& section : source.sections) {
            grouping.add(source, section);
        }
    }
    return grouping.take();
}

}  // namespace telegate
