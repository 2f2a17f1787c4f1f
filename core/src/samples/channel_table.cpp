#include "core/channel_table.hpp"

#include "core/assert.hpp"
#include "core/telemetry_sample.hpp"
#include "core/topic.hpp"

#include <utility>

namespace telegate {

std::optional<ChannelId> ChannelTable::add(DeviceId device_id, std::string_view device, std::string_view channel,
                                           std::string_view unit) {
    return add_to(Share::whole, device_id, {device, channel, unit});
}

std::optional<ChannelId> ChannelTable::add_found(DeviceId device_id, std::string_view device, std::string_view channel,
                                                 std::string_view unit) {
    return add_to(Share::of_device, device_id, {device, channel, unit});
}

std::optional<ChannelId> ChannelTable::add_to(Share share, DeviceId device_id, const Names& names) {
    const std::lock_guard lock(mutex_);
    if (!is_topic_part(names.device) || !is_topic_part(names.channel)) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return std::nullopt;
    }
    std::string topic = std::string(names.device) + '/' + std::string(names.channel);
    if (const auto known = ids_by_topic_.find(topic); known != ids_by_topic_.end()) {
        return known->second;
    }
    if (to_index(device_id) >= channels_of_.size()) {
        channels_of_.resize(to_index(device_id) + 1);
    }
    const std::size_t index = size_.load(std::memory_order_relaxed);
    std::size_t& of_device = channels_of_[to_index(device_id)];
    const bool has_share = share == Share::whole || of_device < share_of_free * (channels_max - index);
    if (index < channels_max && has_share) {
        const auto id = static_cast<ChannelId>(index);
        store(id, {device_id, std::string(names.device), std::string(names.channel), std::string(names.unit),
                   std::move(topic)});
        ++of_device;
        size_.store(index + 1, std::memory_order_release);
        return id;
    }
    if (!has_share && (!crowding_ || of_device > channels_of_[to_index(*crowding_)])) {
        crowding_name_ = names.device;
        crowding_ = device_id;
    }
    refused_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
}

std::optional<ChannelTable::Crowd> ChannelTable::crowd() const {
    const std::lock_guard lock(mutex_);
    return crowding_ ? std::optional(Crowd{crowding_name_, channels_of_[to_index(*crowding_)]}) : std::nullopt;
}

std::optional<ChannelId> ChannelTable::find(const std::string& topic) const {
    const std::lock_guard lock(mutex_);
    const auto known = ids_by_topic_.find(topic);
    return known == ids_by_topic_.end() ? std::nullopt : std::optional(known->second);
}

void ChannelTable::store(ChannelId id, ChannelInfo info) {
    std::unique_ptr<Block>& block = blocks_[to_index(id) / block_channels];
    if (!block) {
        block = std::make_unique<Block>();
    }
    for (Room* const room : rooms_) {
        room->make_room(id, info);
    }
    ids_by_topic_.emplace(info.topic, id);
    block->infos[to_index(id) % block_channels] = std::move(info);
}

void ChannelTable::add_room(Room& room) {
    const std::lock_guard lock(mutex_);
    for (std::size_t index = 0; index < size(); ++index) {
        const auto id = static_cast<ChannelId>(index);
        room.make_room(id, at(id));
    }
    rooms_.push_back(&room);
}

void ChannelTable::remove_room(Room& room) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(rooms_, &room);
}

const ChannelInfo& ChannelTable::at(ChannelId id) const noexcept {
    const std::size_t index = to_index(id);
    TELEGATE_ASSERT(index < size_.load(std::memory_order_acquire));
    return blocks_[index / block_channels]->infos[index % block_channels];
}

void ChannelTable::set_current(ChannelId id, bool current) noexcept {
    const std::size_t index = to_index(id);
    TELEGATE_ASSERT(index < size());
    blocks_[index / block_channels]->gone[index % block_channels].store(!current, std::memory_order_relaxed);
}

bool ChannelTable::is_current(ChannelId id) const noexcept {
    const std::size_t index = to_index(id);
    TELEGATE_ASSERT(index < size());
    return !blocks_[index / block_channels]->gone[index % block_channels].load(std::memory_order_relaxed);
}

std::string_view to_string(Quality quality) noexcept {
    switch (quality) {
        case Quality::good: return "good";
        case Quality::uncertain: return "uncertain";
        case Quality::bad: return "bad";
        case Quality::stale: return "stale";
    }
    return "bad";
}

}  // namespace telegate
