#include "encode/labels.hpp"

#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"
#include "core/text.hpp"
#include "core/topic.hpp"
#include "device/processing.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>

namespace telegate {
namespace {

const Labels no_labels;

/// Returns the name of the host as one word of a topic or a subject.
std::string host_word() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    ::gethostname(name.data(), name.size() - 1);
    std::string word = to_topic_part(name.data());
    std::replace(word.begin(), word.end(), '.', '_');
    return word;
}

void set_tag(Tags& tags, Tag tag) {
    const auto same = std::find_if(tags.begin(), tags.end(), [&](const Tag& each) { return each.name == tag.name; });
    if (same == tags.end()) {
        tags.push_back(std::move(tag));
    } else {
        same->value = std::move(tag.value);
    }
}

Tags with(Tags tags, const std::vector<std::string>& own) {
    for (const std::string& text : own) {
        if (auto tag = to_tag(text)) {
            set_tag(tags, std::move(*tag));
        }
    }
    return tags;
}

/// Returns the topic of the channel from which processing makes this one; "" if the name has no ending of such a
/// channel.
std::string maker_of(std::string_view topic) {
    const std::size_t dot = topic.rfind('.');
    const std::string_view ending = dot == std::string_view::npos ? "" : topic.substr(dot + 1);
    bool is_made = ending == "alarm";
    for (std::size_t i = 0; i < aggregate_kinds; ++i) {
        is_made = is_made || ending == to_string(static_cast<Aggregate>(i));
    }
    return is_made ? std::string(topic.substr(0, dot)) : "";
}

void append_text(std::string& out, const Tags& tags) {
    for (const Tag& tag : tags) {
        out.append(tag.name).append("=").append(tag.value).append("\n");
    }
}

}  // namespace

std::optional<Tag> to_tag(std::string_view text) {
    constexpr std::size_t value_bytes_max = 128;
    const std::size_t end = std::min(text.find('='), text.size());
    const std::string_view name = trimmed(text.substr(0, end));
    const std::string_view value = trimmed(text.substr(std::min(end + 1, text.size())));
    const bool is_tag =
        is_name_allowed(*find_section("tags"), name) && !value.empty() && value.size() <= value_bytes_max;
    return is_tag ? std::optional(Tag{std::string(name), std::string(value)}) : std::nullopt;
}

Labels::Labels(const Settings& settings) : gateway_(settings.name.empty() ? host_word() : settings.name) {
    for (const TagSettings& tag : settings.tags) {
        tags_.push_back({tag.name, tag.value});
    }
    for (const DeviceSettings& device : settings.devices) {
        if (!device.tags.empty()) {
            own_.emplace(device.name, with(tags_, device.tags));
        }
    }
    for (const ChannelSettings& channel : settings.channels) {
        if (!channel.tags.empty()) {
            own_.emplace(channel.name, with(tags(channel.device(), ""), channel.tags));
        }
    }
}

const Tags& Labels::tags(std::string_view device, std::string_view channel) const {
    if (own_.empty()) {
        return tags_;
    }
    const std::string topic = std::string(device).append("/").append(channel);
    for (const std::string& name : {topic, maker_of(topic), std::string(device)}) {
        if (const auto found = own_.find(name); found != own_.end()) {
            return found->second;
        }
    }
    return tags_;
}

std::string Labels::tags_text() const {
    std::string text;
    append_text(text, tags_);
    for (const auto& [name, tags] : own_) {
        text.append(name).append("\n");
        append_text(text, tags);
    }
    return text;
}

const std::string& gateway_of(const SharedLabels& labels) noexcept {
    return labels == nullptr ? no_labels.gateway() : labels->gateway();
}

const Tags& tags_of(const SharedLabels& labels, const ChannelInfo& channel) {
    return labels == nullptr ? no_labels.gateway_tags() : labels->tags(channel.device, channel.channel);
}

}  // namespace telegate
