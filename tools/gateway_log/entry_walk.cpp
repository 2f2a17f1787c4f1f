#include "entry_walk.hpp"

#include "store/channel_cache.hpp"

#include <algorithm>
#include <cstddef>
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
        std::size_t next_gap = 0;
        for (std::size_t i = 0; i <= batch.samples.size(); ++i) {
            const bool is_end = i == batch.samples.size();
            for (; next_gap < batch.gaps.size() && (is_end || batch.gaps[next_gap].before_sample <= i); ++next_gap) {
                if (times_.contains(last_ns_) || (!is_end && times_.contains(batch.samples[i].time_utc_ns))) {
                    add_gap(batch, batch.gaps[next_gap].gap);
                }
            }
            if (!is_end) {
                add_sample(batch, batch.samples[i]);
            }
        }
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

void walk_entries(store::FileSystem& files, const LogOptions& options, EntryVisitor& visitor) {
    store::LogReader reader(files, options.directory);
    if (options.times.has_since()) {
        reader.seek_time(options.times.since_ns);
    }
    const store::Position end = options.times.has_until()
                                    ? store::end_before(files, options.directory, options.times.until_ns)
                                    : std::numeric_limits<store::Position>::max();
    Walk walk(options, visitor);
    store::LogBatch batch;
    while (reader.position() < end && reader.next(batch)) {
        walk.add(batch);
    }
}

}  // namespace telegate::log_tool
