#include "plan/plan_sections.hpp"

#include "config/section_problems.hpp"
#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace telegate {
namespace {

// Tags are repeated in every payload.
const std::size_t tags_max = find_section("tags")->count_max;

/// Adds a problem for each text in `tags` that is not a tag, and if `all` of the channels of the section are too many.
void check_tags(const std::vector<std::string>& tags, const Tags& all, SectionProblems found) {
    std::vector<std::string> names;
    for (const std::string& text : tags) {
        const auto tag = to_tag(text);
        if (!tag) {
            found.add("tags", '"' + text + "\" is not a tag: must be NAME=VALUE, a name of " +
                                  allowed_name(*find_section("tags")) + ", and a text of 1 to 128 bytes");
        } else if (std::find(names.begin(), names.end(), tag->name) != names.end()) {
            found.add("tags", "duplicate tag: \"" + tag->name + '"');
        } else {
            names.push_back(tag->name);
        }
    }
    if (!found.any() && all.size() > tags_max) {
        found.add("tags", "too many tags: " + std::to_string(all.size()) +
                              " with those of the gateway and of the device; must be at most " +
                              std::to_string(tags_max));
    }
}

}  // namespace

SharedLabels plan_labels(const Settings& settings, std::vector<SettingsProblem>& problems) {
    auto labels = std::make_shared<const Labels>(settings);
    for (const DeviceSettings& device : settings.devices) {
        check_tags(device.tags, labels->tags(device.name, ""), {"device", device, problems});
    }
    for (const ChannelSettings& channel : settings.channels) {
        if (!channel.tags.empty()) {
            check_tags(channel.tags, labels->tags(channel.device(), channel.channel()), {"channel", channel, problems});
        }
    }
    return labels;
}

}  // namespace telegate
