#pragma once

#include "plan/plan.hpp"

#include "config/load.hpp"

#include <string>
#include <vector>

namespace telegate::test {

/// The texts of all problems that planning shows; the settings are called "x.ini".
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

/// The same in one text; the settings are called "test.ini".
inline std::string plan_fault(const std::string& ini) {
    try {
        (void)make_plan(parse_settings(ini, "test.ini"));
    } catch (const SettingsError& error) {
        return error.what();
    }
    return {};
}

}  // namespace telegate::test
