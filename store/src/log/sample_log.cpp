#include "store/sample_log.hpp"

#include "store/recovery.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace telegate::store {
namespace {

constexpr std::int64_t ns_per_day = 86'400'000'000'000;

/// Creates the directory and locks it.
std::unique_ptr<DirectoryLock> lock_directory(FileSystem& files, const std::string& directory) {
    files.make_directory(directory);
    return files.lock(directory);
}

}  // namespace

SampleLog::SampleLog(Parts parts, Options options, const KnownSeqs& known)
    : parts_(parts),
      options_(std::move(options)),
      lock_(lock_directory(parts.files, options_.directory)),
      segments_(parts.files, options_.directory, options_.limits),
      mark_(parts.files, options_.directory),
      reserve_(parts.files, options_.directory) {
    const RecoveredLog recovered = recover_log(parts.files, options_.directory, known, recovery_);
    log_id_ = recovered.log_id.value_or(options_.new_log_id);
    for (const SegmentDirectory::Segment& segment : recovered.segments) {
        segments_.add(segment);
    }
    next_position_ = recovery_.next + 1;  // the start of the epoch takes one
    status_.synced = recovery_.next;
}

SampleLog::~SampleLog() = default;

bool SampleLog::has_capacity() const noexcept {
    return pending_bytes_ < unsynced_bytes_max;
}

bool SampleLog::is_blocking() const noexcept {
    return status_.is_full && segments_.limits().when_full == WhenFull::block;
}

SampleLog::ChannelState& SampleLog::state_of(ChannelId channel) {
    const std::size_t index = to_index(channel);
    if (index >= channels_.size()) {
        channels_.resize(index + 1);
    }
    return channels_[index];
}

void SampleLog::append(std::span<const TelemetrySample> samples) {
    const bool is_dropping = status_.is_full && segments_.limits().when_full != WhenFull::block;
    if (!is_dropping) {
        name_dropped();  // before the samples after them, so that the order of publication shows in the log
        if (published_before_ + block_.samples() != status_.published) {
            end_block();  // the samples of a block were published in a row
            published_before_ = status_.published;
        }
    }
    status_.published += samples.size();
    for (const TelemetrySample& sample : samples) {
        ChannelState& state = state_of(sample.channel);
        if (is_dropping) {
            state.dropped_seq = sample.seq;
            ++status_.dropped_full;
            ++status_.dropped_unnamed;
            continue;
        }
        reach(sample.channel, state, sample.seq);
        block_.add(sample);
        state.last_seq = sample.seq;
        if (block_.is_full()) {
            end_block();
        }
    }
}

void SampleLog::append(const LogGap& gap) {
    ChannelState& state = state_of(gap.channel);
    reach(gap.channel, state, gap.first_seq);
    add_gap(gap);
    state.last_seq = gap.last_seq;
}

/// Adds a gap for the missing samples of the channel before `first_seq`.
void SampleLog::reach(ChannelId channel, ChannelState& state, std::uint64_t first_seq) {
    TELEGATE_ASSERT(first_seq > state.last_seq);
    if (first_seq == state.last_seq + 1) {
        return;
    }
    if (state.dropped_seq > state.last_seq) {
        const std::uint64_t last = std::min(state.dropped_seq, first_seq - 1);
        add_gap({channel, state.last_seq + 1, last, GapReason::log_full});
        status_.dropped_unnamed -= std::min(status_.dropped_unnamed, last - state.last_seq);
        state.last_seq = last;
    }
    if (first_seq > state.last_seq + 1) {
        const bool is_before_log = options_.joins_epoch && state.last_seq == 0;
        add_gap(
            {channel, state.last_seq + 1, first_seq - 1, is_before_log ? GapReason::not_recorded : GapReason::unknown});
    }
}

void SampleLog::add_gap(const LogGap& gap) {
    block_.add(gap);
    if (block_.is_full()) {
        end_block();
    }
}

void SampleLog::end_block() {
    if (block_.is_empty()) {
        return;
    }
    Pending block;
    block.position = next_position_;
    block.samples = static_cast<std::uint32_t>(block_.samples());
    head_position_ = 0;
    block_.encode(published_before_, head_, block.head, block.payload);
    head_position_ = block.position;
    published_before_ += block_.samples();
    next_position_ += block_.entries();
    block_.clear();
    block.head.shrink_to_fit();  // they may have grown to twice their size
    block.payload.shrink_to_fit();
    pending_bytes_ += block.bytes();
    pending_.push_back(std::move(block));
}

const BlockHead& SampleLog::head_of(const Pending& block) {
    if (head_position_ != block.position) {
        head_position_ = 0;
        const bool is_read = BlockDecoder::read_head(block.head, head_);
        TELEGATE_ASSERT(is_read);
        head_position_ = block.position;
    }
    return head_;
}

SegmentChannel SampleLog::definition(ChannelId channel, std::uint64_t last_seq) const {
    const ChannelInfo& info = parts_.channels.at(channel);
    return {channel, info.device, info.channel, info.unit, last_seq};
}

void SampleLog::mark(const std::function<std::uint64_t(ChannelId)>& published) {
    std::vector<SegmentChannel> ahead;
    for (std::size_t i = 0; i < parts_.channels.size() && ahead.size() < PublishedMark::channels_max; ++i) {
        const auto channel = static_cast<ChannelId>(i);
        const std::uint64_t last_seq = published(channel);
        if (mark_.is_new() || last_seq > (i < channels_.size() ? channels_[i].last_seq : 0)) {
            ahead.push_back(definition(channel, last_seq));
        }
    }
    if (!ahead.empty()) {
        SegmentHead head;
        head.log_id = log_id_;
        head.first_position = recovery_.next;
        head.epoch_ms = options_.epoch_ms;
        mark_.write(head, ahead);
    }
}

/// Makes sure that the directory is still the one that was locked. If it is not, the log continues in the directory
/// that has its name now, or in a new one. Samples that were synced to the other one become gaps.
void SampleLog::keep_directory() {
    if (lock_ != nullptr && lock_->is_held()) {
        return;
    }
    lock_.reset();
    segment_.reset();
    mark_.close();
    written_ = 0;
    auto lock = lock_directory(parts_.files, options_.directory);
    segments_.reload();
    if (segments_.newest().value_or(0) >= next_position_) {
        throw std::system_error(std::make_error_code(std::errc::file_exists),
                                "another log is now in " + options_.directory);
    }
    ++status_.directories_lost;
    lock_ = std::move(lock);
}

/// Opens the segment that begins with the first pending block, or with the start of the epoch.
void SampleLog::open_segment() {
    const Position next = pending_.empty() ? next_position_ : pending_.front().position;
    SegmentHead head;
    head.log_id = log_id_;
    head.begins_epoch = !is_epoch_begun_;
    head.first_position = head.begins_epoch ? recovery_.next : next;
    head.epoch_ms = options_.epoch_ms;
    const ClockPair now = read_both(parts_.clock);
    head.utc_ns = now.utc_ns;
    head.mono_ns = now.mono_ns;
    const std::string path = segments_.path_of(head.first_position);
    const std::string replaced = path + std::string(damaged_suffix);
    if (segments_.newest() == head.first_position) {  // left by a failed sync: nothing in it is known to be on disk
        segments_.rename_newest(replaced);            // it may be the only one: a start finds its position in the name
    }
    parts_.files.remove(path);  // left by a failed attempt to create it
    auto segment = std::make_unique<SegmentWriter>(parts_.files, path, head);
    std::vector<SegmentChannel> known;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        if (channels_[i].pending_seq > 0) {
            known.push_back(definition(static_cast<ChannelId>(i), channels_[i].pending_seq));
        }
    }
    if (!known.empty()) {
        segment->define(known);
    }
    // First, so that the next start sees that positions after this one were in use and how far the channels were, and
    // so that there is always one segment that a power failure cannot remove.
    segment->sync();
    parts_.files.sync_directory(options_.directory);
    parts_.files.remove(replaced);
    is_epoch_begun_ = true;
    segments_.add({head.first_position, segment->bytes(), 0});
    segment_ = std::move(segment);
    segment_bytes_max_ = segment_bytes_now();
    reserve_.keep();
}

/// Returns the limit on the size of a segment that begins now.
std::uint64_t SampleLog::segment_bytes_now() const {
    const LogLimits& limits = segments_.limits();
    if (limits.when_full != WhenFull::drop_oldest) {
        return options_.segment_bytes;
    }
    const std::uint64_t disk = parts_.files.free_bytes(options_.directory) + segments_.bytes();
    const std::uint64_t usable = disk - std::min(disk, limits.free_bytes_min);
    return std::min(options_.segment_bytes, std::max(segment_bytes_min, usable / segments_min));
}

void SampleLog::define_channels(const BlockHead& block) {
    std::vector<SegmentChannel> added;
    const auto add = [&](ChannelId channel) {
        if (!segment_->is_defined(channel) &&
            std::none_of(added.begin(), added.end(), [&](const SegmentChannel& each) { return each.id == channel; })) {
            added.push_back(definition(channel, 0));
        }
    };
    for (const BlockChannel& channel : block.channels) {
        add(channel.channel);
    }
    for (const BlockGap& gap : block.gaps) {
        add(gap.gap.channel);
    }
    if (!added.empty()) {
        segment_->define(added);
    }
}

void SampleLog::apply_limits(std::uint64_t more_bytes) {
    status_.is_full = !segments_.make_capacity(more_bytes, parts_.clock.utc_now_ns());
}

void SampleLog::write_pending() {
    while (written_ < pending_.size() || segment_ == nullptr) {
        if (segment_ != nullptr && !segment_->is_empty() &&
            segment_->bytes() + pending_[written_].bytes() > segment_bytes_max_) {
            end_segment();
        }
        if (segment_ == nullptr) {
            open_segment();
        }
        if (written_ == pending_.size()) {
            return;
        }
        const Pending& block = pending_[written_];
        const BlockHead& head = head_of(block);
        define_channels(head);
        const std::uint64_t before = segment_->bytes();
        segment_->append(head, block.head, block.payload, block.position);
        const std::uint64_t added = segment_->bytes() - before;
        const std::int64_t day_ns = segment_->utc_max_ns() / ns_per_day * ns_per_day;
        status_.day_bytes = day_ns == status_.day_ns ? status_.day_bytes + added : added;
        status_.day_ns = day_ns;
        status_.written_bytes += added;
        ++written_;
        segments_.update_newest(segment_->bytes(), segment_->utc_max_ns());
    }
}

void SampleLog::write() {
    end_block();
    keep_directory();
    for (bool is_replaced = false;;) {
        try {
            apply_limits(written_ < pending_.size() ? pending_bytes_ : 0);
            return write_pending();
        } catch (const std::system_error& error) {
            if (error.code() != std::errc::no_space_on_device) {
                throw;
            }
            if (segments_.limits().when_full == WhenFull::drop_oldest &&
                (segments_.remove_oldest() || (!std::exchange(is_replaced, true) && replace_segment()))) {
                continue;
            }
            // The start of an epoch takes space from the reserve, so that the next start knows this epoch.
            if (is_epoch_begun_ || !reserve_.release_part()) {
                throw;
            }
        }
    }
}

/// Replaces the only segment by a new one, for which the reserve has space: the disk has none for both. Returns false
/// if that would not help.
bool SampleLog::replace_segment() {
    if (segment_ != nullptr && segment_->is_empty()) {
        return false;
    }
    reserve_.release();
    if (segment_ != nullptr) {
        sync_segment();
        segment_.reset();
    }
    open_segment();
    const bool is_removed = segments_.remove_oldest();
    reserve_.keep();
    return is_removed;
}

void SampleLog::sync() {
    keep_directory();
    apply_limits(0);
    if (!status_.is_full) {
        name_dropped();
    }
    write();
    sync_segment();
    apply_limits(0);
}

/// Adds gaps for the samples that were dropped after the last one that was logged.
void SampleLog::name_dropped() {
    if (status_.dropped_unnamed == 0) {
        return;
    }
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        ChannelState& state = channels_[i];
        if (state.dropped_seq > state.last_seq) {
            reach(static_cast<ChannelId>(i), state, state.dropped_seq + 1);
        }
    }
}

void SampleLog::sync_segment() {
    try {
        segment_->sync();
    } catch (const std::system_error&) {
        segment_.reset();
        written_ = 0;
        throw;
    }
    for (; written_ > 0; --written_) {
        const Pending& block = pending_.front();
        const BlockHead& head = head_of(block);
        status_.samples += block.samples;
        for (const BlockChannel& channel : head.channels) {
            state_of(channel.channel).pending_seq = channel.last_seq;
        }
        for (const BlockGap& gap : head.gaps) {
            ChannelState& state = state_of(gap.gap.channel);
            state.pending_seq = std::max(state.pending_seq, gap.gap.last_seq);
        }
        status_.synced = block.position + head.entries();
        pending_bytes_ -= block.bytes();
        pending_.pop_front();
    }
}

/// Ends the open segment, so that the next write opens another one.
void SampleLog::end_segment() {
    segment_->seal();
    segments_.update_newest(segment_->bytes(), segment_->utc_max_ns());
    sync_segment();
    segment_.reset();
}

void SampleLog::close() {
    name_dropped();
    for (;;) {
        try {
            finish();
            return reserve_.keep();
        } catch (const std::system_error& error) {
            if (error.code() != std::errc::no_space_on_device || !reserve_.release_part()) {
                throw;
            }
            drop_pending();
        }
    }
}

void SampleLog::finish() {
    write();
    if (!segment_->has_stop()) {
        const ClockPair now = read_both(parts_.clock);
        segment_->stop({now.utc_ns, now.mono_ns}, next_position_);  // that of dropped blocks is later than the gaps
    }
    end_segment();
}

/// Replaces the blocks that are not in a file by gaps.
void SampleLog::drop_pending() {
    end_block();
    if (written_ == pending_.size()) {
        return;
    }
    std::vector<std::uint64_t> firsts(channels_.size());  // of what is dropped, by channel; 0: nothing
    const auto drop = [&](ChannelId channel, std::uint64_t first_seq) {
        std::uint64_t& first = firsts[to_index(channel)];
        first = first == 0 ? first_seq : std::min(first, first_seq);
    };
    const Position end = next_position_;
    while (written_ < pending_.size()) {
        const Pending& block = pending_.back();
        const BlockHead& head = head_of(block);
        for (const BlockChannel& channel : head.channels) {
            drop(channel.channel, channel.first_seq);
        }
        for (const BlockGap& gap : head.gaps) {
            drop(gap.gap.channel, gap.gap.first_seq);
        }
        status_.dropped_full += block.samples;
        next_position_ = block.position;  // of the gaps, so that they replace what a failed sync may have left of it
        pending_bytes_ -= block.bytes();
        pending_.pop_back();
    }
    published_before_ = status_.published;
    for (std::size_t i = 0; i < firsts.size(); ++i) {
        if (firsts[i] > 0) {
            add_gap({static_cast<ChannelId>(i), firsts[i], channels_[i].last_seq, GapReason::log_full});
        }
    }
    end_block();
    next_position_ = std::max(next_position_, end);
}

LogStatus SampleLog::status() const noexcept {
    LogStatus status = status_;
    for (std::size_t i = 0; i < written_; ++i) {
        status.samples += pending_[i].samples;
    }
    status.segments = segments_.count();
    status.bytes = segments_.bytes();
    status.next = next_position_ + block_.entries();
    status.oldest = segments_.oldest().value_or(recovery_.next);
    status.segments_removed = segments_.removed();
    return status;
}

}  // namespace telegate::store
