#pragma once

#include "config/settings.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace telegate {

/// Something wrong with the settings, ready to print: "file:line: key: what is wrong, what is allowed".
struct SettingsProblem {
    SettingsPlace place;
    std::string key;  // of settings in JSON: a JSON pointer
    std::string what;
    std::string setting = {};  // the whole name: "queue.policy", "device.boiler.seed", "queue_size"; "" when unknown

    [[nodiscard]] std::string text() const;
};

/// In the order in which sources are read: `file`, the other files by name, then all else; each by line, and what
/// concerns no line last.
void sort_problems(std::vector<SettingsProblem>& problems, const std::string& file);

/// All problems of one load, in that order.
class SettingsError : public std::runtime_error {
  public:
    explicit SettingsError(std::vector<SettingsProblem> problems, Settings understood = {},
                           std::error_code unreadable = {});
    [[nodiscard]] const std::vector<SettingsProblem>& problems() const noexcept { return problems_; }
    /// What there was beside the problems: for finding further ones, not for running.
    [[nodiscard]] const Settings& understood() const noexcept { return understood_; }
    /// Why a file of settings, or their folder, could not be read; none when all could.
    [[nodiscard]] std::error_code unreadable() const noexcept { return unreadable_; }

  private:
    std::vector<SettingsProblem> problems_;
    Settings understood_;
    std::error_code unreadable_;
};

/// Reads and checks a settings file alone: no drop-ins, no environment. Throws SettingsError with every problem at
/// once.
[[nodiscard]] Settings load_settings(const std::string& path);

/// The same for text that is already in memory; `file` is only used to name places.
[[nodiscard]] Settings parse_settings(std::string_view text, const std::string& file);

/// Whether `text` names a log level, and the levels there are, as text: "trace, debug, ...".
[[nodiscard]] bool is_log_level(std::string_view text);
[[nodiscard]] std::string log_level_choices();

}  // namespace telegate
