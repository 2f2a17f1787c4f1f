#include "scenario.hpp"

namespace telegate::perf {

namespace {

// With Debian's shared libraries, at rest.
constexpr double resident_kib_max = 10 * 1'024;
constexpr double anonymous_kib_max = 3 * 1'024;
constexpr FootprintGoals at_rest{resident_kib_max, anonymous_kib_max, 0.1, true};
constexpr FootprintGoals in_use{};

}  // namespace

std::vector<Scenario> usual_scenarios(const std::string& config_folder) {
    const std::string shipped = config_folder + "/gateway.ini";
    const std::string embedded = config_folder + "/embedded.ini";
    const std::string high_frequency = config_folder + "/high_frequency.ini";
    const std::string cloud = config_folder + "/cloud.ini";
    // 100 ms and one device is what TelemetryHub's figures are about: 4.5 MB and 3 to 5 %. The goals of the three
    // deployments are its figures for them, at their lower end.
    const FootprintGoals of_embedded{2 * 1'024, 0, 1, true};
    const FootprintGoals of_high_frequency{10 * 1'024, 0, 5, true};
    const FootprintGoals of_cloud{20 * 1'024, 0, 3, true};
    return {{"shipped", shipped, {}, "", 0, 0, at_rest},
            {"100 ms", embedded, {{"sampling_interval_ms", "100"}, {"queue_size", "256"}}, "", 0, 0, at_rest},
            {"queue of 256", shipped, {{"queue_size", "256"}}, "", 0, 0, at_rest},
            {"queue of 65536", shipped, {{"queue_size", "65536"}}, "", 0, 0, in_use},
            {"16 subscribers", shipped, {}, "", 16, 0, in_use},
            {"REST at 10 Hz", shipped, {}, "", 0, 10, in_use},
            {"embedded", embedded, {}, "", 0, 0, of_embedded},
            {"high frequency", high_frequency, {}, "", 0, 0, of_high_frequency},
            {"cloud", cloud, {}, "", 0, 0, of_cloud},
            {"cloud, five-fold", cloud, {}, "burst_probability = 1\nburst_samples = 5\n", 1, 0, in_use}};
}

}  // namespace telegate::perf
