#pragma once

#include "core/channel_table.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace telegate {

/// Something for each channel, in blocks of several, made where the channel is made: whoever has a channel has its
/// room, and using it cannot fail.
///
/// A Block has `static constexpr std::size_t channels`, a power of two, and `begin(slot, info)`, which is called once
/// for each channel before anybody has its id.
///
/// Threads: constructor and destructor the owner's; of() any. What is inside is the owner's business.
/// Limits:  memory for the channels that there are, rounded up to a block.
/// Failure: the constructor may throw std::bad_alloc. A channel for which there is no memory is refused by the table.
template <class Block>
class ChannelBlocks final : private ChannelTable::Room {
  public:
    /// Also for the channels that the table has already.
    explicit ChannelBlocks(ChannelTable& channels) : channels_(channels) { channels_.add_room(*this); }
    ~ChannelBlocks() override {
        channels_.remove_room(*this);
        for (const std::atomic<Block*>& block : blocks_) {
            delete block.load(std::memory_order_relaxed);
        }
    }
    ChannelBlocks(const ChannelBlocks&) = delete;
    ChannelBlocks& operator=(const ChannelBlocks&) = delete;

    /// The block that has the channel. The id came with an acquiring load, of the table's size or from the queue.
    [[nodiscard]] Block& of(ChannelId channel) const noexcept {
        return *blocks_[to_index(channel) / Block::channels].load(std::memory_order_relaxed);
    }
    /// Where in it.
    [[nodiscard]] static std::size_t slot(ChannelId channel) noexcept { return to_index(channel) % Block::channels; }

  private:
    void make_room(ChannelId channel, const ChannelInfo& info) override {
        std::atomic<Block*>& place = blocks_[to_index(channel) / Block::channels];
        if (place.load(std::memory_order_relaxed) == nullptr) {
            place.store(new Block(), std::memory_order_relaxed);
        }
        of(channel).begin(slot(channel), info);
    }

    ChannelTable& channels_;
    std::array<std::atomic<Block*>, ChannelTable::channels_max / Block::channels> blocks_{};
};

}  // namespace telegate
