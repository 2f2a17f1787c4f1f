#include "config/settings_text.hpp"
#include "config/load.hpp"
#include "config/problems.hpp"
#include "config/settings_instances.hpp"
#include "support/catch.hpp"
#include "support/setting_values.hpp"

#include <sstream>

using namespace telegate;
using telegate::test::all_values;
using telegate::test::has;
using telegate::test::parse;

namespace {

/// Uncomments every setting and section header in the text.
std::string uncommented(const std::string& text) {
    std::istringstream lines(text);
    std::string out;
    for (std::string line; std::getline(lines, line);) {
        const bool is_setting = line.starts_with("# [") || (line.starts_with("# ") && line.find(" = ") < 30);
        out += (is_setting ? line.substr(2) : line) + "\n";
    }
    return out;
}

}  // namespace

TEST_CASE("the sample file of settings loads back to the same settings", "[config][print]") {
    const std::string text =
        GENERATE("", "queue_size = 7\n[rest]\nlisten = [::1]:0\n[sampling]\ncpu_affinity = 1, 3\n",
                 "[publish \"a\"]\nendpoint = ipc:///a#b;c \"d\" = e\nformat = record\n[device \"x\"]\n"
                 "driver = simulated\ninterval_us = 250\nwaveforms = noise, sine\noffset = -0.1\n"
                 "[device \"y\"]\ndriver = host\nautostart = no\ninterval_ms = 3\n");
    const Settings settings = parse(text);
    CHECK(all_values(parse(sample_ini(settings))) == all_values(settings));
}

TEST_CASE("the sample file of the shipped settings loads back", "[config][print]") {
    const auto* const name = GENERATE("gateway", "embedded", "high_frequency", "cloud");
    const Settings settings =
        load_settings({.file = std::string(TELEGATE_SOURCE_DIR "/config/") + name + ".ini"}).settings;
    CHECK(all_values(parse(sample_ini(settings))) == all_values(settings));
}

TEST_CASE("the sample file explains every key, even of sections without instances", "[config][print]") {
    const std::string sample = sample_ini(Settings());
    Settings some = parse(
        "[publish \"a\"]\nendpoint = tcp://*:0\n[device \"x\"]\ndriver = simulated\n[device \"y\"]\n"
        "driver = host\n");
    walk(some, [&](const SettingSpot& spot) {
        CAPTURE(spot.row.section, spot.row.key);
        CHECK(has(sample, std::string(spot.row.key) + " ="));
    });
    CHECK(has(sample, "# [device \"simulated\"]\n"));
    CHECK(has(sample, "# [uplink \"influxdb\"]\n"));
    for (const std::string& problem : test::problems_of(uncommented(sample))) {
        const bool is_example = has(problem, "endpoint: \"\"") || has(problem, "value: \"\"") ||
                                has(problem, "invalid name") || has(problem, ": missing in [device \"") ||
                                has(problem, "url: missing in [uplink \"");
        const bool is_unset = has(problem, "not a whole number: \"\"") || has(problem, "conflicts with interval_ms");
        CAPTURE(problem);
        CHECK((is_example || is_unset));
    }
}

TEST_CASE("the lines of the sample file have a readable length", "[config][print]") {
    std::istringstream lines(sample_ini(Settings()));
    for (std::string line; std::getline(lines, line);) {
        CHECK(line.size() <= 120);
    }
}

TEST_CASE("the effective settings show each value with its source", "[config][print]") {
    const LoadedSettings loaded = load_settings({.environment = {{"TELEGATE_QUEUE_POLICY", "block"}},
                                                 .assignments = {"device.d.driver=host", "sampling.cpu_affinity=1,2"}});
    const std::string text = effective_text(loaded.settings);
    std::istringstream words(text);
    std::string collapsed;
    for (std::string word; words >> word;) {
        collapsed += word + " ";
    }
    CHECK(has(collapsed, "queue.policy = block env TELEGATE_QUEUE_POLICY "));
    CHECK(has(collapsed, "gateway.queue_size = auto default "));
    CHECK(has(collapsed, "sampling.cpu_affinity = 1, 2 --set "));
    CHECK(has(collapsed, "device.d.interval_ms = (sampling_interval_ms) default "));
    CHECK_FALSE(has(collapsed, "waveforms"));
}

TEST_CASE("the effective settings are printed in columns", "[config][print]") {
    std::istringstream lines(effective_text({}));
    std::size_t column = 0;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t here = line.find(" = ");
        CHECK((column == 0 || here == column));
        column = here;
        CHECK(line.ends_with("  default"));
    }
    CHECK(column > 0);
}
