#pragma once

#include "core/channel_table.hpp"

#include <cstddef>
#include <vector>

namespace telegate {

/// Something for each channel, made when the channel's first sample comes.
///
/// Threads: one.
/// Limits:  one entry per channel, so at most ChannelTable::channels_max.
/// Failure: of() may throw std::bad_alloc, and what making an entry throws; it then has no entry more than before.
template <class Entry>
class PerChannel {
  public:
    explicit PerChannel(const ChannelTable& channels) noexcept : channels_(&channels) {}

    /// The entry of a channel. `make(info)` makes one.
    template <class Make>
    [[nodiscard]] Entry& of(ChannelId channel, const Make& make) {
        const std::size_t index = to_index(channel);
        if (index >= entries_.size()) {
            make_up_to(index, make);
        }
        return entries_[index];
    }
    /// Null when of() was not called for it.
    [[nodiscard]] const Entry* find(ChannelId channel) const noexcept {
        const std::size_t index = to_index(channel);
        return index < entries_.size() ? &entries_[index] : nullptr;
    }

  private:
    /// Ids are handed out in order, so those before this one are there too.
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
