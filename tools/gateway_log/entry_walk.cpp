#include "entry_walk.hpp"

#include "store/channel_cache.hpp"

#include <algorithm>
#include <limits>

namespace telegate::log_tool {
namespace {

class Walk {
  public:
    Walk(const LogOptions& options, EntryVisitor& visitor)
        : channels_(options.channels), times_(options.times), visitor_(visitor) {}

    void add(const store::LogBatch& batch) {
        cache_.begin(batch);
        if (batch.begins_epoch) {
            last_ns_ = epoch_start_ns(batch.epoch_ms);
            if (times_.contains(last_ns_)) {
                visitor_.start(batch.epoch_ms);
            }
        }
        store::for_entries(
            batch.samples, batch.gaps,
            [&](const store::BlockGap& each) {
                const bool has_next = each.before_sample < batch.samples.size();
                if (times_.contains(last_ns_) ||
                    (has_next && times_.contains(batch.samples[each.before_sample].time_utc_ns))) {
                    add_gap(batch, each.gap);
                }
            },
            [&](const TelemetrySample& sample) { add_sample(batch, sample); });
        if (batch.ends_epoch && times_.contains(last_ns_)) {
            visitor_.stop(batch.epoch_ms);
        }
    }

  private:
    struct Known {
        EntryChannel channel;
        bool is_selected = false;
    };

    void add_sample(const store::LogBatch& batch, const TelemetrySample& sample) {
        last_ns_ = sample.time_utc_ns;
        if (!times_.contains(last_ns_)) {
            return;
        }
        if (const Known& known = known_of(batch, sample.channel); known.is_selected) {
            visitor_.sample(known.channel, sample);
        }
    }

    void add_gap(const store::LogBatch& batch, const store::LogGap& gap) {
        if (const Known& known = known_of(batch, gap.channel); known.is_selected) {
            visitor_.gap(known.channel, gap);
        }
    }

    const Known& known_of(const store::LogBatch& batch, ChannelId channel) {
        return cache_.at(channel, [&](const store::SegmentChannel* definition) {
            Known known;
            known.channel = {batch.epoch_ms, definition == nullptr ? "" : definition->topic(),
                             definition == nullptr ? "" : definition->unit};
            known.is_selected = channels_.matches(known.channel.topic);
            return known;
        });
    }

    const ChannelFilter& channels_;
    const TimeRange& times_;
    EntryVisitor& visitor_;
    store::ChannelCache<Known> cache_;
    std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();  // time of the last sample, or start of the epoch
};

}  // namespace

void walk_entries(store::LogReader& reader, const LogOptions& options, EntryVisitor& visitor) {
    if (options.times.has_since()) {
        reader.seek_time(options.times.since_ns);
    }
    if (options.times.has_until()) {
        reader.stop_before(options.times.until_ns);
    }
    Walk walk(options, visitor);
    store::LogBatch batch;
    while (reader.next(batch)) {
        walk.add(batch);
    }
}

}  // namespace telegate::log_tool
