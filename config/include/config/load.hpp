#pragma once

#include "config/settings.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace telegate {

/// A problem in the settings, ready to print: "file:line: key: what is wrong: what was given; what is allowed".
struct SettingsProblem {
    SettingsPlace place;
    std::string key;  // for settings in JSON: a JSON pointer
    std::string what;
    std::string setting = {};  // the full name: "queue.policy", "device.boiler.seed", "queue_size"; "" when unknown

    [[nodiscard]] std::string text() const;
};

/// Sorts the problems in the order in which sources are read: `file`, the other files by name, then all other sources.
/// Within a source they are sorted by line; problems without a line come last.
void sort_problems(std::vector<SettingsProblem>& problems, const std::string& file);

/// All problems of one load, sorted by sort_problems().
class SettingsError : public std::runtime_error {
  public:
    explicit SettingsError(std::vector<SettingsProblem> problems, Settings understood = {},
                           std::error_code unreadable = {});
    [[nodiscard]] const std::vector<SettingsProblem>& problems() const noexcept { return problems_; }
    /// Returns the settings that were parsed despite the problems. Use them to find further problems, not to run.
    [[nodiscard]] const Settings& understood() const noexcept { return understood_; }
    /// Returns why a settings file or its directory could not be read; no error if all could be read.
    [[nodiscard]] std::error_code unreadable() const noexcept { return unreadable_; }

  private:
    std::vector<SettingsProblem> problems_;
    Settings understood_;
    std::error_code unreadable_;
};

/// Parses and checks the text of one settings file, without drop-ins and environment. Throws SettingsError with all
/// problems; `file` is only used in their places.
[[nodiscard]] Settings parse_settings(std::string_view text, const std::string& file);

/// is_log_level() returns whether `text` names a log level; log_level_choices() returns "one of trace, debug,
/// ...".
[[nodiscard]] bool is_log_level(std::string_view text);
[[nodiscard]] std::string log_level_choices();

}  // namespace telegate
