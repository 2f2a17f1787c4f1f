#pragma once

#include "core/channel_table.hpp"

#include <cstddef>
#include <vector>

namespace telegate {

/// One entry per channel, created at the first use of the channel.
///
/// Threads: one.
/// Limits: at most ChannelTable::channels_max entries.
/// Failure: of() may throw std::bad_alloc or an exception of `make`; the entries are then unchanged.
template <class Entry>
class PerChannel {
  public:
    explicit PerChannel(const ChannelTable& channels) noexcept : channels_(&channels) {}

    /// Returns the entry of a channel. `make(info)` creates it.
    template <class Make>
    [[nodiscard]] Entry& of(ChannelId channel, const Make& make) {
        const std::size_t index = to_index(channel);
        if (index >= entries_.size()) {
            make_up_to(index, make);
        }
        return entries_[index];
    }
    void clear() noexcept { entries_.clear(); }
    /// Returns null if of() was not called for the channel or a later one.
    [[nodiscard]] const Entry* find(ChannelId channel) const noexcept {
        const std::size_t index = to_index(channel);
        return index < entries_.size() ? &entries_[index] : nullptr;
    }

  private:
    /// Ids are assigned in order, so all channels with smaller ids exist.
    template <class Make>
    [[gnu::noinline]] void make_up_to(std::size_t index, const Make& make) {
        while (entries_.size() <= index) {
            entries_.push_back(make(channels_->at(static_cast<ChannelId>(entries_.size()))));
        }
    }

    const ChannelTable* channels_;
    std::vector<Entry> entries_;  // by id
};

}  // namespace telegate
