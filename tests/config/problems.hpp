#pragma once

#include "config/joined.hpp"
#include "config/load.hpp"
#include "config/settings_table.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::test {

/// A device with only its driver set.
inline const std::string boiler_section = "[device \"boiler\"]\ndriver = simulated\n";

/// Returns the printed problems of a settings text, which is called "t.ini"; empty if there are none.
inline std::vector<std::string> problems_of(std::string_view text) {
    std::vector<std::string> texts;
    try {
        (void)parse_settings(text, "t.ini");
    } catch (const SettingsError& error) {
        for (const SettingsProblem& problem : error.problems()) {
            texts.push_back(problem.text());
        }
    }
    return texts;
}

/// Returns all problems of the text, one per line; "" if there are none.
inline std::string problem_of(std::string_view text) {
    return joined(problems_of(text), "\n");
}

/// Returns the drivers as problems list them.
inline std::string driver_names() {
    return allowed_text(*find_setting("device", "driver"));
}

inline Settings parse(std::string_view text) {
    return parse_settings(text, "t.ini");
}

inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace telegate::test
