#include "plan/channel_sections.hpp"

#include "config/joined.hpp"
#include "config/nearest_name.hpp"
#include "core/channel_table.hpp"
#include "device/sample_batch.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t names_listed_max = 8;  // in a message
/// Advice compares a name with all existing names, up to a million comparisons in large settings.
constexpr std::size_t advised_sections_max = 20;

bool fits(std::string_view pattern, std::string_view name) noexcept {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) {
        return name == pattern;
    }
    return name.size() >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
           name.ends_with(pattern.substr(star + 1));
}

/// Returns the channel that was probably meant by `name`: the text after the fixed beginning of `pattern`, up to the
/// last dot, replaces the star. Returns "" if the name does not begin like the pattern.
std::string meant_by(std::string_view pattern, std::string_view name) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) {
        return std::string(pattern);
    }
    const std::string_view ending = pattern.substr(star + 1);
    if (ending.empty() || !name.starts_with(pattern.substr(0, star))) {
        return "";
    }
    const std::string_view rest = name.substr(star);
    const std::string_view middle = rest.substr(0, rest.rfind('.'));
    return std::string(pattern.substr(0, star)).append(middle).append(ending);
}

std::string listed(const std::vector<std::string>& names) {
    const bool has_more = names.size() > names_listed_max;
    return joined(std::span(names).first(std::min(names.size(), names_listed_max))) +
           (has_more ? " and " + std::to_string(names.size() - names_listed_max) + " more" : "");
}

/// Returns what a section needs to define a channel; "" if no section can.
std::string what_is_needed(const DeviceSettings& device) {
    const DriverRow& driver = find_driver(device.driver);
    const std::string_view needs = driver.needs == nullptr ? std::string_view() : driver.needs(device);
    return needs.empty() ? "" : "; " + std::string(needs);
}

/// Returns the channel whose processing creates the channel `name`; "" if there is none.
std::string_view maker_of(const ProcessingPlan& plan, std::string_view name) {
    const std::size_t dot = name.rfind('.');
    const auto found = dot == std::string_view::npos ? plan.channels.end() : plan.channels.find(name.substr(0, dot));
    if (found == plan.channels.end()) {
        return "";
    }
    const std::string_view ending = name.substr(dot + 1);
    const ChannelProcessing& how = found->second;
    const bool is_aggregate =
        how.has_window() && std::any_of(how.aggregates.begin(), how.aggregates.end(),
                                        [&](Aggregate each) { return to_string(each) == ending; });
    return is_aggregate || (how.has_alarm() && ending == "alarm") ? std::string_view(found->first) : "";
}

/// Returns the channel that was probably meant, or the channels of the device.
std::string name_advice(std::string_view name, std::vector<std::string> opened, const std::vector<std::string>& later) {
    const std::string all = listed(opened);
    for (const std::string& pattern : later) {
        opened.push_back(meant_by(pattern, name));
    }
    const std::string advice = channel_advice(name, opened);
    return advice.empty() ? "; its channels are " + all : advice;
}

}  // namespace

SettingsProblem section_problem(const ChannelSettings& section, std::string what) {
    return {section.place, "channel \"" + section.name + '"', std::move(what), "channel." + section.name};
}

std::string channel_advice(std::string_view channel, const std::vector<std::string>& names) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string_view near = nearest_name(channel, views);
    return near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?";
}

void check_channel_sections(const PlannedChannels& planned, const Driver* driver,
                            std::vector<SettingsProblem>& problems) {
    const auto add = [&](const ChannelSettings& section, std::string what) {
        problems.push_back(section_problem(section, std::move(what)));
    };
    const bool asks = driver != nullptr && !planned.sections.empty();
    const auto later = asks ? driver->later_channels() : std::nullopt;
    const std::vector<std::string> opened =
        later ? channels_at_open(planned.device, planned.sections) : std::vector<std::string>();
    const std::set<std::string_view> known(opened.begin(), opened.end());
    std::size_t wrong = 0;
    for (const ChannelSettings* const section : planned.sections) {
        const std::string_view name = section->channel();
        if (const std::string_view maker = maker_of(planned.processing, name); !maker.empty()) {
            add(*section, "this channel has no settings of its own: it is created by the settings of \"" +
                              std::string(section->device()) + '/' + std::string(maker) + '"');
        } else if (later && !known.contains(name) &&
                   std::none_of(later->begin(), later->end(),
                                [&](const std::string& pattern) { return fits(pattern, name); })) {
            const bool is_advised = ++wrong <= advised_sections_max;
            add(*section, "the device has no channel with this name" + what_is_needed(planned.device) +
                              (is_advised ? name_advice(name, opened, *later) : ""));
        }
    }
}

}  // namespace telegate
