#include "durable/channel_read.hpp"

#include "store/log_index.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace telegate {

ChannelRead::ChannelRead(const SampleSources& sources, Wanted wanted, Take take)
    : sources_(sources),
      wanted_(std::move(wanted)),
      take_(std::move(take)),
      epoch_ms_(sources.text.epoch_ms()),
      channel_(sources.text.channels().find(wanted_.selection.topic)),
      last_epoch_ms_(wanted_.epoch_ms),
      last_seq_(wanted_.since_seq) {}

bool ChannelRead::step() {
    switch (phase_) {
        case Phase::start: sources_.log == nullptr ? start_history(sources_.history.first()) : start_log(); break;
        case Phase::log: read_log(); break;
        case Phase::history: read_history(); break;
        case Phase::over: break;
    }
    return phase_ != Phase::over;
}

void ChannelRead::start_log() {
    const LogHistory::Parts& log = sources_.log->parts();
    phase_ = Phase::log;
    reader_.emplace(log.files, log.directory);
    reader_->select(wanted_.selection);
    if (wanted_.newest > 0) {
        return reader_->seek_last(wanted_.newest);
    }
    if (!wanted_.epoch_ms) {
        return reader_->seek_time(wanted_.selection.since_ns);
    }
    const auto first_wanted = [&](const store::SegmentChannel& channel) {
        return channel.device + "/" + channel.channel == wanted_.selection.topic ? wanted_.since_seq + 1 : 0;
    };
    const auto position = store::LogIndex(log.files, log.directory).find(*wanted_.epoch_ms, first_wanted);
    if (!position && *wanted_.epoch_ms != epoch_ms_) {
        is_epoch_unknown_ = true;
        phase_ = Phase::over;
        return;
    }
    // Without a position, nothing of this run has been written yet.
    reader_->seek(position ? *position
                           : store::end_before(log.files, log.directory, std::numeric_limits<std::int64_t>::max()));
}

void ChannelRead::read_log() {
    for (std::size_t blocks = 0; blocks < step_blocks_max; ++blocks) {
        if (!reader_->next(batch_)) {
            return end_log();
        }
        if (!deliver(batch_)) {
            phase_ = Phase::over;
            return;
        }
    }
}

/// Called when the log has been read to its end. Continues in the history if it has everything that follows; otherwise,
/// makes the log have it first.
void ChannelRead::end_log() {
    DurableLog& durable = sources_.log->parts().durable;
    if (seam_) {
        return start_history(*seam_);
    }
    seam_ = sources_.history.oldest();
    const bool is_written = durable.written() >= *seam_ || durable.write_now(*seam_ - 1, LogHistory::write_time_max);
    const bool is_logged = durable.options().has_topic(wanted_.selection.topic);
    hole_reason_ = !is_logged   ? store::GapReason::unknown
                   : is_written ? store::GapReason::queue_overflow
                                : store::GapReason::log_slow;
    reader_->select(wanted_.selection);  // for the end, which has moved
}

void ChannelRead::start_history(std::uint64_t position) {
    position_ = position;
    end_ = end_ > 0 ? end_ : sources_.history.position();  // the first one: a fast writer cannot prolong the read
    phase_ = channel_ && wanted_.epoch_ms.value_or(epoch_ms_) <= epoch_ms_ ? Phase::history : Phase::over;
}

void ChannelRead::read_history() {
    found_.clear();
    gaps_.clear();
    const std::uint64_t step_end = position_ + step_samples_max;
    while (position_ < std::min(end_, step_end)) {
        const History::Read read = sources_.history.read(position_, copied_);
        if (read.missed > 0 && seam_) {  // overwritten meanwhile, so the log will have it
            seam_.reset();
            phase_ = Phase::log;
            break;
        }
        position_ = read.next;
        for (const TelemetrySample& sample : std::span(copied_).first(read.count)) {
            if (sample.channel == *channel_) {
                add(sample, hole_reason_);
            }
        }
        if (read.count == 0 && read.missed == 0) {
            break;
        }
    }
    const ChannelPart part{epoch_ms_, sources_.text.channels().at(*channel_).unit, found_, gaps_};
    const bool is_over = position_ >= end_ && phase_ == Phase::history;
    if (!take_(part) || is_over) {
        phase_ = Phase::over;
    }
}

/// Adds a sample of the history.
void ChannelRead::add(const TelemetrySample& sample, store::GapReason reason) {
    const bool is_known = last_epoch_ms_ == epoch_ms_;
    if (is_known && sample.seq <= last_seq_) {
        return;
    }
    const bool is_wanted =
        sample.time_utc_ns >= wanted_.selection.since_ns && sample.time_utc_ns < wanted_.selection.until_ns;
    if (is_wanted && is_known && sample.seq > last_seq_ + 1) {
        gaps_.push_back(
            {static_cast<std::uint32_t>(found_.size()), {sample.channel, last_seq_ + 1, sample.seq - 1, reason}});
    }
    hole_reason_ = sources_.log == nullptr ? store::GapReason::unknown : store::GapReason::queue_overflow;
    last_epoch_ms_ = epoch_ms_;
    last_seq_ = sample.seq;
    if (is_wanted) {
        found_.push_back(sample);
    }
}

/// Delivers the wanted samples of a batch of the log that were not delivered yet. Returns whether to continue.
bool ChannelRead::deliver(store::LogBatch& batch) {
    if (batch.selected == nullptr || batch.epoch_ms < last_epoch_ms_.value_or(batch.epoch_ms)) {
        return true;
    }
    const std::uint64_t last_seq = batch.epoch_ms == last_epoch_ms_ ? last_seq_ : 0;
    const auto is_given = [&](const TelemetrySample& sample) {
        return sample.seq <= last_seq;
    };
    const auto given = static_cast<std::uint32_t>(
        std::find_if_not(batch.samples.begin(), batch.samples.end(), is_given) - batch.samples.begin());
    gaps_.clear();
    for (const store::BlockGap& each : batch.gaps) {
        if (each.gap.last_seq > last_seq) {
            gaps_.push_back(each);
            gaps_.back().before_sample -= std::min(gaps_.back().before_sample, given);
            gaps_.back().gap.first_seq = std::max(each.gap.first_seq, last_seq + 1);
        }
    }
    const auto samples = std::span<const TelemetrySample>(batch.samples).subspan(given);
    if (samples.empty() && gaps_.empty()) {
        return true;
    }
    last_epoch_ms_ = batch.epoch_ms;
    last_seq_ =
        std::max({last_seq, samples.empty() ? 0 : samples.back().seq, gaps_.empty() ? 0 : gaps_.back().gap.last_seq});
    return take_({batch.epoch_ms, batch.selected->unit, samples, gaps_});
}

}  // namespace telegate
