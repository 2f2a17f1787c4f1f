#include "store/sample_log.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace telegate::store {
namespace {

constexpr std::int64_t ns_per_day = 86'400'000'000'000;
/// About what a new segment takes, and the definition of a channel in it.
constexpr std::uint64_t segment_head_bytes = 4'096;
constexpr std::uint64_t definition_bytes = 64;

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
      reserve_(parts.files, options_.directory),
      began_mono_ns_(to_ns(parts.clock.mono_now())) {
    const RecoveredLog recovered = recover_log(parts.files, options_.directory, known, recovery_);
    log_id_ = recovered.log_id.value_or(options_.new_log_id);
    for (const SegmentDirectory::Segment& segment : recovered.segments) {
        segments_.add(segment);
    }
    next_position_ = recovery_.next + 1;  // the start of the epoch takes one
    status_.synced = recovered.synced;
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
    const bool drops = is_dropping();
    if (!drops) {
        name_dropped();  // before the samples after them, so that the order of publication shows in the log
        if (published_before_ + block_.published() != status_.published) {
            end_block();  // the samples of a block, and those that are omitted, were published in a row
            published_before_ = status_.published - block_.published();
        }
    }
    status_.published += samples.size();
    for (const TelemetrySample& sample : samples) {
        ChannelState& state = state_of(sample.channel);
        if (drops) {
            drop_full(state, sample.seq, 1);
            ++status_.dropped_full;
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
    if (is_dropping()) {  // gaps take space, too
        return drop_full(state, gap.last_seq, gap.last_seq - gap.first_seq + 1);
    }
    reach(gap.channel, state, gap.first_seq);
    add_gap(gap);
    state.last_seq = gap.last_seq;
}

bool SampleLog::is_dropping() const noexcept {
    return status_.is_full && segments_.limits().when_full != WhenFull::block;
}

/// Records that nothing up to `last_seq` is logged, because the log is full.
void SampleLog::drop_full(ChannelState& state, std::uint64_t last_seq, std::uint64_t count) {
    state.dropped_seq = last_seq;
    status_.dropped_unnamed += count;
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
        add_gap({channel, state.last_seq + 1, first_seq - 1, GapReason::unknown});
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
    published_before_ += block_.published();
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

bool SampleLog::is_written() const noexcept {
    return written_ == pending_.size() && block_.is_empty() && status_.dropped_unnamed == 0;
}

void SampleLog::mark(const std::function<std::uint64_t(ChannelId)>& captured, bool is_last) {
    const bool is_all_in_file = written_ == pending_.size() && block_.is_empty();
    const auto logged = [&](std::size_t channel) {
        if (channel >= channels_.size()) {
            return std::uint64_t{0};
        }
        return is_all_in_file ? channels_[channel].last_seq : channels_[channel].pending_seq;
    };
    mark_.begin();
    for (std::size_t i = 0; i < parts_.channels.size(); ++i) {
        const auto channel = static_cast<ChannelId>(i);
        const std::uint64_t last_seq = captured(channel);
        if (mark_.is_new() || last_seq > logged(i)) {
            mark_.add(definition(channel, last_seq));
        }
    }
    SegmentHead head;
    head.log_id = log_id_;
    head.first_position = recovery_.next;
    head.epoch_ms = options_.epoch_ms;
    head.utc_ns = is_last ? std::max<std::int64_t>(parts_.clock.utc_now_ns(), 1) : 0;
    mark_.commit(head);
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
    segments_.reload(recovery_.next, to_ns(parts_.clock.mono_now()));
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
    const LogTime now = time_now();
    head.utc_ns = now.utc_ns;
    head.mono_ns = now.mono_ns;
    head.is_utc_trusted = now.is_utc_trusted;
    const std::string path = segments_.path_of(head.first_position);
    const std::string replaced = path + std::string(damaged_suffix);
    if (segments_.newest() == head.first_position) {  // left by a failed sync: nothing in it is known to be on disk
        segments_.rename_newest(replaced);            // it may be the only one: a start finds its position in the name
    }
    const auto left = SegmentReader::open_alone(parts_.files, path);
    if (left != nullptr && !left->index().blocks.empty()) {
        throw std::system_error(std::make_error_code(std::errc::file_exists), "cannot replace " + path);
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
    sync_and_wait([&] {
        segment->sync();
        parts_.files.sync_directory(options_.directory);
    });
    parts_.files.remove(replaced);
    is_epoch_begun_ = true;
    segments_.begin(head.first_position, segment->bytes(), now);
    segment_ = std::move(segment);
    segment_bytes_max_ = segment_bytes_now();
    reserve_.keep();
}

/// Returns the limit on the size of a segment.
std::uint64_t SampleLog::segment_bytes_now() const {
    const LogLimits& limits = segments_.limits();
    std::uint64_t share = limits.bytes_max == 0 ? segment_bytes : limits.bytes_max / segments_min;
    if (limits.when_full == WhenFull::drop_oldest) {
        const std::uint64_t disk = parts_.files.free_bytes(options_.directory) + segments_.bytes();
        share = std::min(share, (disk - std::min(disk, limits.free_bytes_min)) / segments_min);
    }
    return std::min(options_.segment_bytes, std::max(segment_bytes_min, share));
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

LogTime SampleLog::time_now() {
    const ClockPair now = read_both(parts_.clock);
    const bool is_trusted = wall_clock_.check(now, parts_.clock.utc_is_unsynchronized(now.mono_ns));
    return {now.utc_ns, now.mono_ns, began_mono_ns_, is_trusted};
}

void SampleLog::apply_limits(std::uint64_t more_bytes) {
    const LogTime now = time_now();
    segments_.remove_old(now);
    status_.is_full = !segments_.make_capacity(more_bytes, now.mono_ns);
}

void SampleLog::write_pending() {
    if (segment_ != nullptr && are_limits_new_) {
        segment_bytes_max_ = segment_bytes_now();
        if (!segment_->is_empty() && segment_->bytes() > segment_bytes_max_) {
            end_segment();
        }
    }
    are_limits_new_ = false;
    if (segment_ != nullptr && !segment_->is_empty() && segments_.limits().age_max_ns > 0 &&
        !segment_->head().is_utc_trusted && time_now().is_utc_trusted) {
        end_segment();  // the next one dates this run
    }
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
        segments_.update_newest(segment_->bytes());
    }
}

void SampleLog::write() {
    end_block();
    keep_directory();
    for (;;) {
        try {
            apply_limits(written_ < pending_.size() ? pending_bytes_ : 0);
            write_pending();
            break;
        } catch (const std::system_error& error) {
            if (!is_disk_full(error)) {
                throw;
            }
            if (!find_space()) {
                throw;
            }
        }
    }
    apply_limits(0);  // the newest segment, which may have exceeded a limit alone, may have ended
}

/// Returns whether a write that has failed for lack of space can be tried again.
bool SampleLog::find_space() {
    if (segments_.limits().when_full == WhenFull::drop_oldest) {
        if (free_space()) {
            return true;
        }
        prepare_replacement();
    }
    // The start of an epoch takes space from the reserve, so that the next start knows this epoch.
    return !is_epoch_begun_ && reserve_.release_part();
}

/// Removes segments because a write has failed for lack of space. Returns false if that would not help.
bool SampleLog::free_space() {
    const std::uint64_t block_bytes = written_ < pending_.size() ? pending_[written_].bytes() : 0;
    const std::uint64_t bytes = block_bytes + segment_head_bytes + parts_.channels.size() * definition_bytes;
    return segments_.free_space(bytes, time_now().mono_ns);
}

/// Ends the only segment and releases the reserve, so that the next attempt can begin another segment there. If it
/// succeeds, nobody else takes the space that the log frees, and it is worth removing the old one.
void SampleLog::prepare_replacement() {
    if (segments_.count() == 1 && segment_ != nullptr && !segment_->is_empty()) {
        reserve_.release();
        sync_segment();
        segment_.reset();
    }
}

void SampleLog::sync() {
    keep_directory();
    apply_limits(0);
    if (!status_.is_full) {
        name_dropped();
    }
    write();
    sync_segment();
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

void SampleLog::sync_and_wait(const std::function<void()>& sync) {
    parts_.sync ? parts_.sync(sync) : sync();
}

void SampleLog::sync_segment() {
    try {
        sync_and_wait([this] { segment_->sync(); });
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
    segments_.update_newest(segment_->bytes());
    sync_segment();
    segment_.reset();
}

void SampleLog::close() {
    name_dropped();
    for (;;) {
        const bool has_segment = segment_ != nullptr;
        try {
            finish();
            return reserve_.keep();
        } catch (const std::system_error& error) {
            if (!is_disk_full(error)) {
                throw;
            }
            if (has_segment && segment_ == nullptr) {
                continue;  // prepare_replacement() has ended it
            }
            if (!reserve_.release_part()) {
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
    published_before_ = status_.published - block_.published();
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
    status.left_out = block_.is_empty() ? block_.published() : 0;
    status.oldest = segments_.oldest().value_or(recovery_.next);
    status.segments_removed = segments_.removed();
    status.segments_removed_for_space = segments_.removed_for_space();
    status.space_problem = segments_.space_problem(to_ns(parts_.clock.mono_now()));
    return status;
}

}  // namespace telegate::store
