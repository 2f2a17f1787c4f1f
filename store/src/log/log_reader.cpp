#include "store/log_reader.hpp"

#include "log/log_files.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace telegate::store {
namespace {

/// Returns whether a block has entries that the segment that begins at `limit` replaces.
bool is_beyond(const BlockEntry& block, Position limit) noexcept {
    return block.position >= limit || block.entries > limit - block.position;
}

}  // namespace

Position end_before(FileSystem& files, const std::string& directory, std::int64_t until_ns) {
    const std::vector<SegmentRef> segments = list_known_segments(files, directory);
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

LogReader::LogReader(FileSystem& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

void LogReader::seek(Position position) {
    segment_.reset();
    position_ = continue_at_ = position;
    epoch_ms_.reset();
    last_seqs_.clear();
    unreadable_.reset();
}

void LogReader::seek_time(std::int64_t utc_ns) {
    Position end = 0;
    for (const SegmentRef& ref : list_known_segments(files_, directory_)) {
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
        auto segment = open_if_there(files_, directory_, *next, read_errors_);
        if (segment == nullptr) {
            record_unreadable(GapReason::damaged);
            continue;
        }
        if (log_id_ && !may_follow(files_, directory_, segment->head(), *log_id_)) {
            continue;
        }
        log_id_ = segment->head().log_id;
        limit_ = next + 1 == segments.end() ? std::nullopt : std::optional((next + 1)->first_position);
        is_oldest_ = next == segments.begin();
        segment_ = std::move(segment);
        is_end_of_epoch_.reset();
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
    try {
        const bool is_read = read_next(batch);
        continue_at_ = is_read ? batch.end_position : continue_at_;
        return is_read;
    } catch (...) {
        seek(continue_at_);  // the next attempt must not pass over what was not read
        throw;
    }
}

bool LogReader::read_next(LogBatch& batch) {
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
        const auto later = std::find_if(segments.begin(), segments.end(), [&](const SegmentRef& each) {
            return each.first_position > segment_->head().first_position;
        });
        const auto successor =
            std::find_if(later, segments.end(), [&](const SegmentRef& each) { return is_successor(each); });
        limit_ = successor == segments.end() ? std::nullopt : std::optional(successor->first_position);
        segment_->refresh();
        if (next_block_ < blocks.size() && !(limit_ && is_beyond(blocks[next_block_], *limit_))) {
            continue;
        }
        batch.selected = selected_channel();
        end_segment(batch);
        batch.position = batch.end_position = position_;
        if (successor != segments.end()) {
            position_ = std::max(position_, later->first_position);  // those between them are damaged
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

/// Whether a file is the next segment of the log. Other files with such names can appear at any time.
bool LogReader::is_successor(const SegmentRef& ref) const {
    const auto head = SegmentReader::head(files_, directory_ + "/" + ref.name, read_errors_);
    return head && head->first_position == ref.first_position &&
           may_follow(files_, directory_, *head, segment_->head().log_id);
}

/// Reports the start of a gateway, and samples that are missing before the segment.
void LogReader::begin_segment(LogBatch& batch) {
    reported_ = Reported::header;
    const SegmentHead& head = segment_->head();
    batch.restarts_seqs = epoch_ms_ == head.epoch_ms && head.begins_epoch && restarts_seqs();
    const bool is_new_epoch = epoch_ms_ != head.epoch_ms || batch.restarts_seqs;
    const bool is_skipped = position_ < head.first_position;  // earlier entries no longer exist
    // The segment in which the epoch began no longer exists.
    const bool is_start_lost = is_new_epoch && epoch_ms_.has_value() && !head.begins_epoch;
    if (is_new_epoch) {
        epoch_ms_ = head.epoch_ms;
        last_seqs_.clear();
        unreadable_.reset();
    }
    if (head.begins_epoch && position_ <= head.first_position) {
        batch.begins_epoch = true;
    }
    if (is_new_epoch && !is_skipped && !is_start_lost) {
        learn_progress(next_block_);
    } else {
        const GapReason reason = is_oldest_ ? GapReason::retention : GapReason::damaged;
        if (is_start_lost || (is_skipped && !is_oldest_)) {
            record_unreadable(GapReason::damaged);
        }
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
            if (is_selected(channel.channel) && segment_->is_defined(channel.channel)) {
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
        if (!is_intact) {
            record_unreadable(GapReason::damaged);
        }
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

/// Whether the sequence numbers of the segment begin before those that were reported of the same epoch.
bool LogReader::restarts_seqs() {
    for (const BlockEntry& block : segment_->index().blocks) {
        if (block.samples == 0 ||
            segment_->read_block(block, SegmentReader::Part::head, head_, payload_) != SegmentReader::Result::intact) {
            continue;
        }
        return std::any_of(head_.channels.begin(), head_.channels.end(),
                           [&](const BlockChannel& each) { return each.first_seq <= last_seq_of(each.channel); });
    }
    return false;
}

/// Whether the epoch ends with this segment, and not cleanly. Everything else was complete on the disk once.
bool LogReader::is_end_of_epoch() {
    if (!is_end_of_epoch_) {
        const auto next =
            limit_ ? SegmentReader::head(files_, directory_ + "/" + segment_name(*limit_), read_errors_) : std::nullopt;
        is_end_of_epoch_ =
            !segment_->index().stop && (!next || next->epoch_ms != segment_->head().epoch_ms || next->begins_epoch);
    }
    return *is_end_of_epoch_;
}

/// Returns why there are no entries before the block with this index.
GapReason LogReader::reason_before(std::size_t block) {
    const auto& blocks = segment_->index().blocks;
    const std::uint64_t from = block == 0 ? SegmentHead::bytes : blocks[block - 1].offset;
    return is_end_of_epoch() && segment_->has_torn_records(from, blocks[block].offset) ? GapReason::crash
                                                                                       : GapReason::damaged;
}

/// Returns why the payload of the block that was read last cannot be read.
GapReason LogReader::reason_of_payload(const BlockEntry& entry) {
    const std::uint64_t payload = entry.offset + RecordHead::bytes + segment_->block_head().size();
    return is_end_of_epoch() && segment_->is_torn(payload, payload + head_.payload_bytes()) ? GapReason::crash
                                                                                            : GapReason::damaged;
}

void LogReader::read_block(const BlockEntry& entry, LogBatch& batch) {
    using Result = SegmentReader::Result;
    if (entry.position > position_) {
        record_unreadable(reason_before(next_block_ - 1));
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
    batch.is_passed_over = is_wanted_ && read(SegmentReader::Part::head) == Result::intact &&
                           segment_->are_defined(head_) && !is_wanted_(head_, segment_->index().definitions);
    const auto result = batch.is_passed_over ? Result::intact : read(SegmentReader::Part::all);
    if (result == Result::damaged_head) {
        return record_unreadable(GapReason::damaged);
    }
    batch.published_before = head_.published_before;
    batch.published_after = head_.published_after();
    batch.skips = head_.skips;
    if (batch.is_passed_over) {
        return learn(head_);
    }
    if (leaves_encoded_ && result == Result::intact && skipped == 0 && segment_->are_defined(head_) &&
        follows_on(head_)) {
        learn(head_);
        batch.stored = stored(entry);
        batch.is_encoded = true;
        return;
    }
    decode_block(skipped, batch);
    if (skipped == 0 && batch.samples.size() == entry.samples && segment_->are_defined(head_)) {
        batch.stored = stored(entry);
    }
}

/// Decodes the block that was read last as far as it is intact, without its first `skipped` entries.
void LogReader::decode_block(std::uint64_t skipped, LogBatch& batch) {
    const BlockEntry& entry = segment_->index().blocks[next_block_ - 1];
    std::vector<ChannelId> lost;
    if (!decoder_.decode_intact(head_, payload_, batch.samples, lost)) {
        const GapReason reason = reason_of_payload(entry);
        record_unreadable(reason);
        return add_lost_block(head_, reason, batch);
    }
    GapReason reason{};
    if (!lost.empty()) {
        reason = reason_of_payload(entry);
        record_unreadable(reason);
    }
    if (skipped > 0) {
        skip_entries(head_, skipped, batch);
    }
    if (!lost.empty() || !segment_->are_defined(head_)) {
        omit(lost, batch);
    }
    add_holes(head_, batch);
    for (const ChannelId channel : lost) {
        if (const BlockChannel* const part = head_.find(channel); part != nullptr && segment_->is_defined(channel)) {
            catch_up({channel, part->last_seq, reason, static_cast<std::uint32_t>(batch.samples.size())}, batch);
        }
    }
}

/// Removes the samples of `lost` channels, and the samples and gaps of channels without a name.
void LogReader::omit(const std::vector<ChannelId>& lost, LogBatch& batch) {
    std::vector<bool> is_omitted(ChannelTable::channels_max);
    for (const ChannelId channel : lost) {
        is_omitted[to_index(channel)] = true;
    }
    for (const BlockChannel& each : head_.channels) {
        if (!segment_->is_defined(each.channel)) {
            is_omitted[to_index(each.channel)] = true;
            batch.unnamed += each.samples;
        }
    }
    if (!segment_->are_defined(head_)) {
        record_unreadable(GapReason::damaged);
    }
    std::erase_if(head_.gaps, [&](const BlockGap& each) { return !segment_->is_defined(each.gap.channel); });
    batch.omit(is_omitted, head_.gaps);
}

void LogReader::decode(LogBatch& batch) {
    std::vector<ChannelId> lost;
    if (!std::exchange(batch.is_encoded, false)) {
        return;
    }
    if (!decoder_.decode_intact(head_, payload_, batch.samples, lost)) {
        for (const BlockChannel& channel : head_.channels) {
            lost.push_back(channel.channel);
        }
    }
    if (lost.empty()) {
        return;
    }
    record_unreadable(GapReason::damaged);
    batch.stored.reset();
    omit(lost, batch);
    for (const ChannelId each : lost) {
        const BlockChannel& channel = *head_.find(each);
        batch.gaps.push_back({static_cast<std::uint32_t>(batch.samples.size()),
                              {each, channel.first_seq, channel.last_seq, GapReason::damaged}});
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
        }
    }
    batch.drop_front(samples);
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
            if (!batch.places.empty()) {
                batch.places[kept] = batch.places[i];
            }
            batch.samples[kept++] = sample;
        }
    }
    batch.samples.resize(kept);
    batch.places.resize(batch.places.empty() ? 0 : kept);
}

/// Reports the samples of a block whose payload cannot be read as missing.
void LogReader::add_lost_block(const BlockHead& head, GapReason reason, LogBatch& batch) {
    for (const BlockGap& gap : head.gaps) {
        if (segment_->is_defined(gap.gap.channel)) {
            catch_up({gap.gap.channel, gap.gap.first_seq - 1, reason}, batch);
            catch_up({gap.gap.channel, gap.gap.last_seq, gap.gap.reason}, batch);
        }
    }
    for (const BlockChannel& channel : head.channels) {
        if (segment_->is_defined(channel.channel)) {
            catch_up({channel.channel, channel.last_seq, reason}, batch);
        }
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
        return record_unreadable(GapReason::damaged);
    }
    const GapReason reason = result == Result::damaged_payload ? reason_of_payload(entry) : GapReason::unknown;
    keep_channel(channel, batch.samples);
    if (result == Result::damaged_payload) {
        record_unreadable(reason);
        return add_lost_block(head_, reason, batch);
    }
    add_holes(head_, batch);
    batch.keep_times(selection_->since_ns, selection_->until_ns);
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
    const std::vector<SegmentRef> segments = list_known_segments(files_, directory_);
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
