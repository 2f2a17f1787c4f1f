#include "store/log_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace telegate::store {
namespace {

/// Returns null if the file was removed, or is not the segment that its name says.
std::unique_ptr<SegmentReader> open_if_there(FileSystem& files, const std::string& directory, const SegmentRef& ref) {
    auto segment = SegmentReader::open(files, directory + "/" + ref.name);
    const bool is_named = segment != nullptr && segment->head().first_position == ref.first_position;
    return is_named ? std::move(segment) : nullptr;
}

/// Returns whether a block has entries that the segment that begins at `limit` replaces.
bool is_beyond(const BlockEntry& block, Position limit) noexcept {
    return block.position >= limit || block.entries > limit - block.position;
}

struct Times {
    std::int64_t since_ns = std::numeric_limits<std::int64_t>::min();
    std::int64_t until_ns = std::numeric_limits<std::int64_t>::max();  // not included
};

/// Like open_if_there(), but also returns null if the end of the segment says that it has no samples with these times.
std::unique_ptr<SegmentReader> open_if_within(FileSystem& files, const std::string& directory, const SegmentRef& ref,
                                              const Times& times) {
    const auto tail = SegmentReader::tail(files, directory + "/" + ref.name);
    const bool is_outside = tail && (tail->utc_max_ns < times.since_ns || tail->utc_min_ns >= times.until_ns);
    return is_outside ? nullptr : open_if_there(files, directory, ref);
}

}  // namespace

Position end_before(FileSystem& files, const std::string& directory, std::int64_t until_ns) {
    const std::vector<SegmentRef> segments = list_segments(files, directory);
    for (auto ref = segments.rbegin(); ref != segments.rend(); ++ref) {
        const auto segment = open_if_within(files, directory, *ref, {.until_ns = until_ns});
        const std::span<const BlockEntry> blocks =
            segment == nullptr ? std::span<const BlockEntry>() : std::span(segment->index().blocks);
        for (std::size_t i = blocks.size(); i > 0; --i) {
            if (blocks[i - 1].samples > 0 && blocks[i - 1].utc_min_ns < until_ns) {
                return blocks[i - 1].position + blocks[i - 1].entries;
            }
        }
    }
    return 0;
}

const SegmentChannel* LogBatch::find(ChannelId channel) const noexcept {
    if (definitions == nullptr) {
        return nullptr;
    }
    const auto found = std::find_if(definitions->begin(), definitions->end(),
                                    [&](const SegmentChannel& each) { return each.id == channel; });
    return found == definitions->end() ? nullptr : &*found;
}

void LogBatch::clear() noexcept {
    LogBatch empty;
    empty.samples.swap(samples);  // keeps their memory
    empty.gaps.swap(gaps);
    empty.samples.clear();
    empty.gaps.clear();
    *this = std::move(empty);
}

LogReader::LogReader(FileSystem& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

void LogReader::seek(Position position) {
    segment_.reset();
    position_ = position;
    epoch_ms_.reset();
    last_seqs_.clear();
    has_unreadable_ = false;
}

void LogReader::seek_time(std::int64_t utc_ns) {
    Position end = 0;
    for (const SegmentRef& ref : list_segments(files_, directory_)) {
        const auto segment = open_if_within(files_, directory_, ref, {.since_ns = utc_ns});
        end = ref.first_position + 1;
        if (segment == nullptr) {
            continue;
        }
        for (const BlockEntry& block : segment->index().blocks) {
            if (block.samples > 0 && block.utc_max_ns >= utc_ns) {
                return seek(block.position);
            }
        }
        end = segment->index().end_position;
    }
    seek(end);
}

/// Opens the segment with position_, or the first one after it.
bool LogReader::open_segment() {
    const std::vector<SegmentRef> segments = list_segments(files_, directory_);
    auto next = std::upper_bound(
        segments.begin(), segments.end(), position_,
        [](Position position, const SegmentRef& segment) { return position < segment.first_position; });
    if (next != segments.begin()) {
        --next;
    }
    for (; next != segments.end(); ++next) {
        auto segment = open_if_there(files_, directory_, *next);
        if (segment == nullptr) {
            has_unreadable_ = true;
            continue;
        }
        limit_ = next + 1 == segments.end() ? std::nullopt : std::optional((next + 1)->first_position);
        is_oldest_ = next == segments.begin();
        segment_ = std::move(segment);
        reported_ = Reported::nothing;
        searched_ = 0;
        selected_.reset();
        const auto& blocks = segment_->index().blocks;
        next_block_ = static_cast<std::size_t>(
            std::find_if(blocks.begin(), blocks.end(),
                         [&](const BlockEntry& block) { return block.position + block.entries > position_; }) -
            blocks.begin());
        return true;
    }
    return false;
}

bool LogReader::next(LogBatch& batch) {
    batch.clear();
    for (;;) {
        if (position_ >= end_ || (segment_ == nullptr && !open_segment())) {
            return false;
        }
        batch.epoch_ms = segment_->head().epoch_ms;
        batch.definitions = &segment_->index().definitions;
        batch.selected = selected_channel();
        batch.segment = segment_.get();
        if (reported_ == Reported::nothing) {
            begin_segment(batch);
        }
        const auto& blocks = segment_->index().blocks;
        if (next_block_ < blocks.size() && !(limit_ && is_beyond(blocks[next_block_], *limit_))) {
            const BlockEntry entry = blocks[next_block_++];
            if (entry.position + entry.entries > position_) {
                read_block(entry, batch);
                return true;
            }
            continue;
        }
        if (batch.begins_epoch || !batch.gaps.empty()) {
            batch.position = batch.end_position = position_;
            return true;
        }
        const auto segments =
            list_segments(files_, directory_);  // before the refresh: a segment that has a successor is final
        const auto successor = std::find_if(segments.begin(), segments.end(), [&](const SegmentRef& each) {
            return each.first_position > segment_->head().first_position;
        });
        limit_ = successor == segments.end() ? std::nullopt : std::optional(successor->first_position);
        if (segment_->refresh() && next_block_ < segment_->index().blocks.size()) {
            continue;
        }
        batch.selected = selected_channel();
        end_segment(batch);
        batch.position = batch.end_position = position_;
        if (successor != segments.end()) {
            position_ = std::max(position_, successor->first_position);
            ended_segment_ = std::move(segment_);
        }
        if (batch.ends_epoch || !batch.gaps.empty()) {
            return true;
        }
        if (successor == segments.end()) {
            return false;
        }
    }
}

/// Reports the start of a gateway, and samples that are missing before the segment.
void LogReader::begin_segment(LogBatch& batch) {
    reported_ = Reported::header;
    const SegmentHead& head = segment_->head();
    const bool is_new_epoch = epoch_ms_ != head.epoch_ms;
    const bool is_skipped = position_ < head.first_position;  // earlier entries no longer exist
    // The segment in which the epoch began no longer exists.
    const bool is_start_lost = is_new_epoch && epoch_ms_.has_value() && !head.begins_epoch;
    if (is_new_epoch) {
        epoch_ms_ = head.epoch_ms;
        last_seqs_.clear();
        has_unreadable_ = false;
    }
    if (head.begins_epoch && position_ <= head.first_position) {
        batch.begins_epoch = true;
    }
    if (is_new_epoch && !is_skipped && !is_start_lost) {
        learn_progress(next_block_);
    } else {
        const GapReason reason = is_oldest_ ? GapReason::retention : GapReason::damaged;
        has_unreadable_ = has_unreadable_ || is_start_lost || (is_skipped && !is_oldest_);
        for (const SegmentChannel& channel : segment_->index().definitions) {
            if (is_selected(channel.id)) {
                catch_up({channel.id, channel.last_seq, reason}, batch);
            }
        }
    }
    position_ = std::max(position_, head.first_position + (head.begins_epoch ? 1 : 0));
}

/// Reports samples that only the footer knows of, and the stop. Neither counts if the end of the segment was written
/// again in the next one, because a sync had failed.
void LogReader::end_segment(LogBatch& batch) {
    const SegmentFooter& index = segment_->index();
    if (limit_ && index.end_position > *limit_) {
        return;
    }
    if (segment_->has_footer()) {
        for (const BlockChannel& channel : index.channels) {
            if (is_selected(channel.channel)) {
                catch_up({channel.channel, channel.last_seq, GapReason::damaged}, batch);
            }
        }
    }
    if (index.stop && std::exchange(reported_, Reported::stop) != Reported::stop) {
        batch.ends_epoch = true;
    }
}

/// Takes over, without reporting it, the content of the segment before the block with this index.
void LogReader::learn_progress(std::size_t blocks) {
    for (const SegmentChannel& channel : segment_->index().definitions) {
        last_seq_of(channel.id) = channel.last_seq;
    }
    const auto is_learned = [&](std::size_t block) {
        const bool is_intact = segment_->read_block(segment_->index().blocks[block], SegmentReader::Part::head, head_,
                                                    payload_) == SegmentReader::Result::intact;
        has_unreadable_ = has_unreadable_ || !is_intact;
        return is_intact;
    };
    if (const SegmentChannel* const channel = selected_channel()) {
        for (std::size_t i = blocks; i > 0 && last_seq_of(channel->id) == channel->last_seq; --i) {
            if (is_learned(i - 1)) {
                learn(head_);
            }
        }
        return;
    }
    for (std::size_t i = 0; i < blocks && !selection_; ++i) {
        if (is_learned(i)) {
            learn(head_);
        }
    }
}

void LogReader::learn(const BlockHead& head) {
    for (const BlockChannel& channel : head.channels) {
        last_seq_of(channel.channel) = channel.last_seq;
    }
    for (const BlockGap& gap : head.gaps) {
        std::uint64_t& last = last_seq_of(gap.gap.channel);
        last = std::max(last, gap.gap.last_seq);
    }
}

void LogReader::read_block(const BlockEntry& entry, LogBatch& batch) {
    if (entry.position > position_) {
        has_unreadable_ = true;
    }
    if (selection_) {
        return read_channel(entry, batch);
    }
    const std::uint64_t skipped = position_ > entry.position ? position_ - entry.position : 0;
    batch.position = std::max(position_, entry.position);
    batch.end_position = entry.position + entry.entries;
    position_ = batch.end_position;
    const auto read = [&](SegmentReader::Part part) {
        return segment_->read_block(entry, part, head_, payload_);
    };
    batch.is_passed_over = is_wanted_ && read(SegmentReader::Part::head) == SegmentReader::Result::intact &&
                           !is_wanted_(head_, segment_->index().definitions);
    const auto result = batch.is_passed_over ? SegmentReader::Result::intact : read(SegmentReader::Part::all);
    if (result == SegmentReader::Result::damaged_head) {
        has_unreadable_ = true;
        return;
    }
    batch.published_before = head_.published_before;
    batch.published_after = head_.published_before + head_.samples;
    if (batch.is_passed_over) {
        return learn(head_);
    }
    if (leaves_encoded_ && result == SegmentReader::Result::intact && skipped == 0 && follows_on(head_)) {
        learn(head_);
        batch.stored = stored(entry);
        batch.is_encoded = true;
        return;
    }
    if (result == SegmentReader::Result::damaged_payload || !decoder_.decode(head_, payload_, batch.samples)) {
        has_unreadable_ = true;
        return add_lost_block(head_, batch);
    }
    if (skipped > 0) {
        skip_entries(head_, skipped, batch);
    }
    add_holes(head_, batch);
    if (skipped == 0 && batch.samples.size() == entry.samples) {
        batch.stored = stored(entry);
    }
}

/// Returns the block that was read last.
StoredBlock LogReader::stored(const BlockEntry& entry) const noexcept {
    return {entry, &head_, {segment_->block_head(), payload_}};
}

void LogReader::decode(LogBatch& batch) {
    if (!std::exchange(batch.is_encoded, false) || decoder_.decode(head_, payload_, batch.samples)) {
        return;
    }
    has_unreadable_ = true;
    batch.samples.clear();
    batch.stored.reset();
    for (const BlockChannel& channel : head_.channels) {
        batch.gaps.push_back({0, {channel.channel, channel.first_seq, channel.last_seq, GapReason::damaged}});
    }
}

/// Drops the first entries of a block that was entered in the middle.
void LogReader::skip_entries(const BlockHead& head, std::uint64_t entries, LogBatch& batch) {
    std::uint32_t samples = 0;
    std::size_t gaps = 0;
    for (; entries > 0; --entries) {
        if (gaps < head.gaps.size() && head.gaps[gaps].before_sample <= samples) {
            const LogGap& gap = head.gaps[gaps++].gap;
            std::uint64_t& last = last_seq_of(gap.channel);
            last = std::max(last, gap.last_seq);
        } else {
            const TelemetrySample& sample = batch.samples[samples++];
            last_seq_of(sample.channel) = sample.seq;
            ++*batch.published_before;
        }
    }
    batch.samples.erase(batch.samples.begin(), batch.samples.begin() + samples);
    head_.gaps.erase(head_.gaps.begin(), head_.gaps.begin() + static_cast<std::ptrdiff_t>(gaps));
    for (BlockGap& gap : head_.gaps) {
        gap.before_sample -= samples;
    }
}

/// Whether a block has no gaps and all of its samples are the next ones of their channels.
bool LogReader::follows_on(const BlockHead& head) {
    return head.gaps.empty() &&
           std::all_of(head.channels.begin(), head.channels.end(), [&](const BlockChannel& channel) {
               return channel.first_seq == last_seq_of(channel.channel) + 1 && !channel.has_holes();
           });
}

/// Merges the gaps that the block has with those that only show in the sequence numbers.
void LogReader::add_holes(const BlockHead& head, LogBatch& batch) {
    if (batch.samples.size() == head.samples && follows_on(head)) {
        return learn(head);
    }
    std::size_t next_gap = 0;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i <= batch.samples.size(); ++i) {
        for (; next_gap < head.gaps.size() && head.gaps[next_gap].before_sample == i; ++next_gap) {
            const LogGap& gap = head.gaps[next_gap].gap;
            catch_up({gap.channel, gap.first_seq - 1, hole_reason(), kept}, batch);
            catch_up({gap.channel, gap.last_seq, gap.reason, kept}, batch);
        }
        if (i == batch.samples.size()) {
            break;
        }
        const TelemetrySample& sample = batch.samples[i];
        catch_up({sample.channel, sample.seq - 1, hole_reason(), kept}, batch);
        if (std::uint64_t& last = last_seq_of(sample.channel); sample.seq > last) {  // otherwise it is reported already
            last = sample.seq;
            batch.samples[kept++] = sample;
        }
    }
    batch.samples.resize(kept);
}

/// Reports the samples of a block whose payload is damaged as missing.
void LogReader::add_lost_block(const BlockHead& head, LogBatch& batch) {
    for (const BlockGap& gap : head.gaps) {
        catch_up({gap.gap.channel, gap.gap.first_seq - 1, GapReason::damaged}, batch);
        catch_up({gap.gap.channel, gap.gap.last_seq, gap.gap.reason}, batch);
    }
    for (const BlockChannel& channel : head.channels) {
        catch_up({channel.channel, channel.last_seq, GapReason::damaged}, batch);
    }
}

/// Adds a gap to the batch for the missing samples that were not reported yet.
void LogReader::catch_up(const Missing& missing, LogBatch& batch) {
    std::uint64_t& last = last_seq_of(missing.channel);
    if (missing.last_seq > last) {
        batch.gaps.push_back({missing.before_sample, {missing.channel, last + 1, missing.last_seq, missing.reason}});
        last = missing.last_seq;
    }
}

std::uint64_t& LogReader::last_seq_of(ChannelId channel) {
    const std::size_t index = to_index(channel);
    if (index >= last_seqs_.size()) {
        last_seqs_.resize(index + 1);
    }
    return last_seqs_[index];
}

GapReason LogReader::hole_reason() const noexcept {
    return has_unreadable_ ? GapReason::damaged : GapReason::unknown;
}

/// Reads what a block has of the selected channel.
void LogReader::read_channel(const BlockEntry& entry, LogBatch& batch) {
    using Result = SegmentReader::Result;
    batch.position = entry.position;
    batch.end_position = position_ = entry.position + entry.entries;
    if (batch.selected == nullptr) {
        return;
    }
    const ChannelId channel = batch.selected->id;
    Result result = segment_->read_channel(entry, channel, head_, payload_);
    if (result == Result::intact && head_.find(channel) != nullptr &&
        !decoder_.decode_channel(head_, payload_, channel, batch.samples)) {
        result = Result::damaged_payload;
    }
    if (result == Result::damaged_head) {
        has_unreadable_ = true;
        return;
    }
    keep_channel(channel, batch.samples);
    if (result == Result::damaged_payload) {
        has_unreadable_ = true;
        return add_lost_block(head_, batch);
    }
    add_holes(head_, batch);
    keep_times(batch);
}

/// Removes everything of other channels from head_. `samples`: those of the channel.
void LogReader::keep_channel(ChannelId channel, std::span<const TelemetrySample> samples) {
    std::erase_if(head_.gaps, [&](const BlockGap& each) { return each.gap.channel != channel; });
    for (BlockGap& each : head_.gaps) {
        const auto later = std::partition_point(samples.begin(), samples.end(), [&](const TelemetrySample& sample) {
            return sample.seq < each.gap.first_seq;
        });
        each.before_sample = static_cast<std::uint32_t>(later - samples.begin());
    }
    const BlockChannel* const found = head_.find(channel);
    const BlockChannel part = found == nullptr ? BlockChannel{} : *found;
    head_.channels.assign(found == nullptr ? 0 : 1, part);
    head_.samples = part.samples;
}

/// Removes samples outside of the selected times, and gaps that are not next to one of the others.
void LogReader::keep_times(LogBatch& batch) const {
    std::vector<BlockGap> gaps;
    std::uint32_t kept = 0;
    std::size_t next_gap = 0;
    bool was_kept = batch.samples.empty();
    for (std::size_t i = 0; i <= batch.samples.size(); ++i) {
        const bool is_kept = i < batch.samples.size() && batch.samples[i].time_utc_ns >= selection_->since_ns &&
                             batch.samples[i].time_utc_ns < selection_->until_ns;
        for (; next_gap < batch.gaps.size() && batch.gaps[next_gap].before_sample <= i; ++next_gap) {
            if (was_kept || is_kept) {
                gaps.push_back({kept, batch.gaps[next_gap].gap});
            }
        }
        if (is_kept) {
            batch.samples[kept++] = batch.samples[i];
        }
        was_kept = is_kept;
    }
    batch.samples.resize(kept);
    batch.gaps = std::move(gaps);
}

/// Returns the definition of the selected channel, or null if the segment has none.
const SegmentChannel* LogReader::selected_channel() {
    const std::vector<SegmentChannel>& definitions = segment_->index().definitions;
    if (selection_ && !selected_ && searched_ < definitions.size()) {
        const SegmentChannel* const found = segment_->find(selection_->topic);
        selected_ = found == nullptr ? std::nullopt : std::optional<std::size_t>(found - definitions.data());
        searched_ = definitions.size();
    }
    return selected_ ? &definitions[*selected_] : nullptr;
}

bool LogReader::is_selected(ChannelId channel) const noexcept {
    return !selection_ || (selected_ && segment_->index().definitions[*selected_].id == channel);
}

void LogReader::select(ChannelSelection selection) {
    end_ = std::numeric_limits<Position>::max();
    if (selection.until_ns != std::numeric_limits<std::int64_t>::max()) {
        stop_before(selection.until_ns);
    }
    selection_ = std::move(selection);
}

void LogReader::seek_last(std::uint64_t samples) {
    const std::vector<SegmentRef> segments = list_segments(files_, directory_);
    std::uint64_t found = 0;
    Position first = 0;  // the end of the log, until a sample is found
    for (auto ref = segments.rbegin(); ref != segments.rend() && found < samples; ++ref) {
        const auto segment = open_if_within(files_, directory_, *ref, {selection_->since_ns, selection_->until_ns});
        if (segment == nullptr) {
            continue;
        }
        first = first == 0 ? segment->index().end_position : first;
        const SegmentChannel* const channel = segment->find(selection_->topic);
        if (channel == nullptr) {
            continue;
        }
        const auto& blocks = segment->index().blocks;
        for (auto block = blocks.rbegin(); block != blocks.rend() && found < samples; ++block) {
            if (block->samples == 0 || block->utc_min_ns >= selection_->until_ns ||
                segment->read_block(*block, SegmentReader::Part::head, head_, payload_) !=
                    SegmentReader::Result::intact) {
                continue;
            }
            if (const BlockChannel* const part = head_.find(channel->id)) {
                found += block->utc_max_ns < selection_->until_ns ? part->samples : 0;
                first = block->position;
            }
        }
    }
    seek(first);
}

}  // namespace telegate::store
