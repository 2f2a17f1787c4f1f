#include "status/unclaimed_sections.hpp"

#include "config/nearest_name.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

std::string_view device_of_topic(std::string_view topic) noexcept {
    return topic.substr(0, topic.find('/'));
}

}  // namespace

UnclaimedSections::UnclaimedSections(Parts parts)
    : parts_(std::move(parts)), timer_(parts_.reactor, [this] {
          if (check()) {
              schedule_check();
          }
      }) {}

void UnclaimedSections::watch(const std::vector<ChannelSettings>& sections) {
    const MonoTime now = parts_.clock.mono_now();
    std::vector<Section> wanted;
    const std::lock_guard lock(mutex_);
    for (const ChannelSettings& section : sections) {
        const bool is_unclaimed = std::any_of(sections_.begin(), sections_.end(), [&](const Section& known) {
            return known.topic == section.name && known.state == State::unclaimed;
        });
        wanted.push_back({section.name, is_unclaimed ? State::unclaimed : State::waiting, now});
    }
    sections_ = std::move(wanted);
    if (!sections_.empty()) {
        parts_.reactor.post([this] { schedule_check(); });
    }
}

void UnclaimedSections::schedule_check() {
    timer_.set(check_interval);
}

bool UnclaimedSections::check() {
    const MonoTime now = parts_.clock.mono_now();
    bool is_waiting = false;
    std::vector<std::string> found;
    {
        const std::lock_guard lock(mutex_);
        for (Section& section : sections_) {
            if (becomes_unclaimed(section, now)) {
                found.push_back(section.topic);
            }
            is_waiting = is_waiting || section.state == State::waiting;
        }
    }
    const std::size_t reported = std::min(found.size(), reported_max);
    for (std::size_t i = 0; i < reported; ++i) {
        parts_.on_unclaimed({found[i], nearest_to(found[i]), i + 1 == reported ? found.size() - reported : 0});
    }
    return is_waiting;
}

bool UnclaimedSections::becomes_unclaimed(Section& section, MonoTime now) const {
    if (section.state == State::claimed) {
        return false;
    }
    if (has_channel(section.topic)) {
        section.state = State::claimed;
        return false;
    }
    if (section.state == State::unclaimed) {
        return false;
    }
    if (!parts_.is_measuring(device_of_topic(section.topic))) {
        section.since = now;
    } else if (now - section.since >= wait_min) {
        section.state = State::unclaimed;
    }
    return section.state == State::unclaimed;
}

std::vector<std::string> UnclaimedSections::unclaimed() const {
    std::vector<std::string> topics;
    const std::lock_guard lock(mutex_);
    for (const Section& section : sections_) {
        if (section.state == State::unclaimed && !has_channel(section.topic)) {
            topics.push_back(section.topic);
        }
    }
    return topics;
}

bool UnclaimedSections::has_channel(const std::string& topic) const {
    const auto id = parts_.channels.find(topic);
    return id && parts_.channels.is_current(*id);
}

std::string UnclaimedSections::nearest_to(const std::string& topic) const {
    const std::string_view device = device_of_topic(topic);
    std::vector<std::string_view> names;
    for (std::size_t index = 0; index < parts_.channels.size() && names.size() < advice_names_max; ++index) {
        const auto id = static_cast<ChannelId>(index);
        const ChannelInfo& info = parts_.channels.at(id);
        if (info.device == device && parts_.channels.is_current(id)) {
            names.push_back(info.channel);
        }
    }
    const std::string_view near = nearest_name(std::string_view(topic).substr(device.size() + 1), names);
    return near.empty() ? "" : std::string(device) + '/' + std::string(near);
}

}  // namespace telegate
