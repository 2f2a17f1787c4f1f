#include "core/channel_table.hpp"

#include "core/assert.hpp"
#include "core/telemetry_sample.hpp"
#include "core/topic.hpp"

#include <new>
#include <utility>

namespace telegate {

std::optional<ChannelId> ChannelTable::add(DeviceId device_id, std::string_view device, std::string_view channel,
                                           std::string_view unit) {
    TELEGATE_ASSERT(is_topic_part(device) && is_topic_part(channel));
    const std::lock_guard lock(mutex_);
    try {
        std::string topic = std::string(device) + '/' + std::string(channel);
        if (const auto known = ids_by_topic_.find(topic); known != ids_by_topic_.end()) {
            return known->second;
        }
        const std::size_t index = size_.load(std::memory_order_relaxed);
        if (index < channels_max) {
            const auto id = static_cast<ChannelId>(index);
            store(id, {device_id, std::string(device), std::string(channel), std::string(unit), std::move(topic)});
            size_.store(index + 1, std::memory_order_release);
            return id;
        }
    } catch (const std::bad_alloc&) {
        // Refused, as when the table is full.
    }
    refused_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
}

std::optional<ChannelId> ChannelTable::find(const std::string& topic) const {
    const std::lock_guard lock(mutex_);
    const auto known = ids_by_topic_.find(topic);
    return known == ids_by_topic_.end() ? std::nullopt : std::optional(known->second);
}

/// May throw std::bad_alloc; then nothing was stored.
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
