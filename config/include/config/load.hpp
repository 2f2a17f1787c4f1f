#pragma once

#include "config/settings.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Something wrong with the settings, ready to print: "file:line: key: what is wrong, what is allowed".
struct SettingsProblem {
    std::string file;
    std::size_t line = 0;  // from 1; 0 when no line is to blame
    std::string key;
    std::string what;

    [[nodiscard]] std::string text() const;
};

/// All problems of one load, in order of line.
class SettingsError : public std::runtime_error {
  public:
    explicit SettingsError(std::vector<SettingsProblem> problems, Settings understood = {});
    [[nodiscard]] const std::vector<SettingsProblem>& problems() const noexcept { return problems_; }
    /// What there was beside the problems: for finding further ones, not for running.
    [[nodiscard]] const Settings& understood() const noexcept { return understood_; }

  private:
    std::vector<SettingsProblem> problems_;
    Settings understood_;
};

/// Reads and checks a settings file. Throws SettingsError with every problem at once.
[[nodiscard]] Settings load_settings(const std::string& path);

/// The same for text that is already in memory; `file` is only used to name places.
[[nodiscard]] Settings parse_settings(std::string_view text, const std::string& file);

/// Whether `text` names a log level, and the levels there are, as text: "trace, debug, ...".
[[nodiscard]] bool is_log_level(std::string_view text);
[[nodiscard]] std::string log_level_choices();

/// A setting given on the command line, which wins over the file. Throws SettingsError when the value is not allowed.
void override_log_level(Settings& settings, std::string_view value, std::string_view option);

}  // namespace telegate
