#pragma once

#include "config/load.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// Collects the problems of one section that are only found when its values are used, each with the place of its key.
/// Threads: one. Limits: none. Failure: none.
class SectionProblems {
  public:
    /// `section` is the full name, such as "publish.tcp"; `otherwise` is the place of keys that are not given.
    SectionProblems(std::string section, const SettingsPlaces& places, SettingsPlace otherwise,
                    std::vector<SettingsProblem>& problems)
        : section_(std::move(section)),
          places_(places),
          otherwise_(std::move(otherwise)),
          problems_(problems),
          before_(problems.size()) {}

    /// For a section with a name; `kind` is the first part of its full name.
    SectionProblems(std::string_view kind, const NamedSection& section, std::vector<SettingsProblem>& problems)
        : SectionProblems(std::string(kind) + '.' + section.name, section.places, section.place, problems) {}

    void add(std::string_view key, std::string what) {
        problems_.push_back(
            {place_of(places_, key, otherwise_), std::string(key), std::move(what), section_ + '.' + std::string(key)});
    }
    [[nodiscard]] bool any() const noexcept { return problems_.size() > before_; }

  private:
    const std::string section_;
    const SettingsPlaces& places_;
    const SettingsPlace otherwise_;
    std::vector<SettingsProblem>& problems_;
    const std::size_t before_;
};

}  // namespace telegate
