#pragma once

#include "core/channel_table.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace telegate {

/// Data for each channel, in blocks of several channels. The data is allocated when the channel is added, so using the
/// data of an existing channel cannot fail.
///
/// A Block has `static constexpr std::size_t channels`, a power of two, and `begin(slot, info)`, which is called once
/// for each channel before its id is handed out.
///
/// Threads: constructor and destructor: the owner's. of(): any. The owner synchronizes access to the data.
/// Limits: memory for the existing channels, rounded up to a block.
/// Failure: the constructor may throw std::bad_alloc.
template <class Block>
class ChannelBlocks final : private ChannelTable::Room {
  public:
    /// Also allocates data for the channels that the table already has.
    explicit ChannelBlocks(ChannelTable& channels) : channels_(channels) { channels_.add_room(*this); }
    ~ChannelBlocks() override {
        channels_.remove_room(*this);
        for (const std::atomic<Block*>& block : blocks_) {
            delete block.load(std::memory_order_relaxed);
        }
    }
    ChannelBlocks(const ChannelBlocks&) = delete;
    ChannelBlocks& operator=(const ChannelBlocks&) = delete;

    /// Returns the block of a channel. The id must come from an acquire load, of the table's size or from the queue.
    [[nodiscard]] Block& of(ChannelId channel) const noexcept {
        return *blocks_[to_index(channel) / Block::channels].load(std::memory_order_relaxed);
    }
    /// Returns the position of a channel within its block.
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
