#pragma once

#include "plan/plan.hpp"

#include "config/joined.hpp"
#include "config/load.hpp"

#include <string>
#include <vector>

namespace telegate::test {

/// Returns the texts of all problems that planning reports; the settings file is called "x.ini".
inline std::vector<std::string> plan_problems(const std::string& ini) {
    std::vector<std::string> texts;
    try {
        (void)make_plan(parse_settings(ini, "x.ini"));
    } catch (const SettingsError& error) {
        for (const SettingsProblem& problem : error.problems()) {
            texts.push_back(problem.text());
        }
    }
    return texts;
}

/// Returns all problems, one per line; "" if there are none.
inline std::string plan_fault(const std::string& ini) {
    return joined(plan_problems(ini), "\n");
}

}  // namespace telegate::test
