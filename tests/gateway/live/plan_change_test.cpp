#include "live/settings_applier.hpp"

#include "config/load.hpp"
#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace telegate;

namespace {

constexpr const char* two_devices =
    "[device \"a\"]\ndriver = simulated\n[channel \"a/sine\"]\nunit = V\n[device \"ab\"]\ndriver = simulated\n";

PlannedChange change(const std::string& from, const std::string& to) {
    const Settings before = parse_settings(from, "a.ini");
    const Settings after = parse_settings(to, "b.ini");
    return plan_change(before, after, diff(before, after));
}

/// Returns the devices that get another driver.
std::vector<std::string> set_names(const PlannedChange& change) {
    std::vector<std::string> names;
    for (const auto& each : change.devices.set) {
        names.push_back(each.options.name);
    }
    return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("equal settings change no device", "[gateway][plan_change]") {
    CHECK(change(two_devices, two_devices).devices.empty());
}

TEST_CASE("a channel setting affects only the driver of its device", "[gateway][plan_change]") {
    const auto* const to = GENERATE(
        "[device \"a\"]\ndriver = simulated\n[channel \"a/sine\"]\nunit = A\n",                         // changed
        "[device \"a\"]\ndriver = simulated\n",                                                         // removed
        "[device \"a\"]\ndriver = simulated\n[channel \"a/sine\"]\nunit = V\n[channel \"a/ramp\"]\n");  // added
    CHECK(set_names(change(two_devices, std::string(to) + "[device \"ab\"]\ndriver = simulated\n")) == Names{"a"});
}

TEST_CASE("sampling settings of a device do not affect its driver", "[gateway][plan_change]") {
    const auto* const key = GENERATE("interval_ms = 5", "interval_us = 500", "align = wall", "offset_ms = 1",
                                     "errors_before_safe = 1", "errors_before_safe = 10", "breaker_failures = 1",
                                     "breaker_wait_ms = 11", "breaker_wait_max_ms = 1000", "autostart = no");
    CAPTURE(key);
    const PlannedChange planned = change(two_devices, std::string(two_devices) + key + "\n");
    CHECK(planned.devices.set.empty());
    REQUIRE(planned.devices.adjusted.size() == 1);
    CHECK(planned.devices.adjusted.front().name == "ab");
}

TEST_CASE("tags of devices and channels affect no driver", "[gateway][plan_change]") {
    const std::string tagged = "[channel \"ab/sine\"]\ntags = x=1\n";
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"", "tags = x=1\n"},
                                   {"tags = x=1\n", "tags = y=1\n"},
                                   {"", tagged},
                                   {tagged, ""},
                                   {tagged + "unit = V\n", tagged.substr(0, tagged.find("tags")) + "unit = V\n"}}) {
        CAPTURE(from, to);
        CHECK(change(two_devices + from, two_devices + to).devices.empty());
    }
    CHECK(set_names(change(two_devices, two_devices + tagged + "unit = V\n")) == Names{"ab"});
}

TEST_CASE("a changed driver setting creates another driver", "[gateway][plan_change]") {
    CHECK(set_names(change(two_devices, std::string(two_devices) + "seed = 2\n")) == Names{"ab"});
}
