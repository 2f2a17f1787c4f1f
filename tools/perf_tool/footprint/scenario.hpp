#pragma once

#include "scratch_settings.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace telegate::perf {

/// What a scenario should stay within; zero where nobody has said so.
struct FootprintGoals {
    double resident_kib = 0;
    double anonymous_kib = 0;
    double cpu_percent = 0;
    bool few_wake_ups = false;  // no more than samples, and two a second
};

/// One way to run gateway_app.
struct Scenario {
    std::string name;
    std::string config;  // a file
    SettingChanges changes;
    std::string more;  // text behind that of the file, so for its last section
    std::size_t subscribers = 0;
    std::size_t polls_per_second = 0;  // of GET /status
    FootprintGoals goals;
};

/// Those that are measured when nothing else is asked for; their files are in `config_folder`.
[[nodiscard]] std::vector<Scenario> usual_scenarios(const std::string& config_folder);

}  // namespace telegate::perf
