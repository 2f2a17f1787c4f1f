#pragma once

#include "store/log_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace telegate::store {

/// Finds a value for each channel of a batch quickly. Values are made when a channel is first used in a batch, because
/// the numbers of channels have a meaning in one segment only.
///
/// Threads: one. Limits: one entry for each channel number. Failure: throws std::bad_alloc, and exceptions of `make`.
template <class Value>
class ChannelCache {
  public:
    void begin(const LogBatch& batch) {
        ++batch_;
        if (batch.definitions == nullptr) {
            return;
        }
        for (const SegmentChannel& channel : *batch.definitions) {
            Entry& entry = entry_of(channel.id);
            entry.definition = &channel;
            entry.defined_in = batch_;
        }
    }

    /// `make` gets the definition of the channel, or null if the segment has none.
    template <class Make>
    Value& at(ChannelId channel, const Make& make) {
        Entry& entry = entry_of(channel);
        if (entry.made_in != batch_) {
            entry.value = make(entry.defined_in == batch_ ? entry.definition : nullptr);
            entry.made_in = batch_;
        }
        return entry.value;
    }

  private:
    struct Entry {
        const SegmentChannel* definition = nullptr;
        std::uint64_t defined_in = 0;
        std::uint64_t made_in = 0;
        Value value{};
    };

    Entry& entry_of(ChannelId channel) {
        const std::size_t index = to_index(channel);
        if (index >= entries_.size()) {
            entries_.resize(index + 1);
        }
        return entries_[index];
    }

    std::vector<Entry> entries_;  // by channel number
    std::uint64_t batch_ = 0;
};

}  // namespace telegate::store
