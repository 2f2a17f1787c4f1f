#include "durable/log_cursor.hpp"

#include <utility>

namespace telegate {

/// The channels of an earlier epoch.
struct LogCursor::Names {
    ChannelTable channels;
    SampleText text;

    Names(std::int64_t epoch_ms, const SharedLabels& labels) : text(channels, epoch_ms, labels) {}
};

LogCursor::LogCursor(store::FileSystem& files, Options options, store::Position start)
    : options_(std::move(options)), reader_(files, options_.directory) {
    if (options_.present_text != nullptr) {
        text_ = {std::shared_ptr<SampleText>(), options_.present_text};  // owned by the gateway
    } else {
        names_ = std::make_shared<Names>(options_.epoch_ms, options_.labels);
        text_ = {names_, &names_->text};
    }
    reader_.select([this](const auto& head, const auto& definitions) { return is_wanted(head, definitions); });
    reader_.seek(start);
}

bool LogCursor::is_wanted(const store::BlockHead& head, const std::vector<store::SegmentChannel>& definitions) {
    const auto has = [&](ChannelId id, std::uint64_t first_seq, std::uint64_t last_seq) {
        const Channel& channel = this->channel(id, definitions);
        return channel.want == Want::yes && first_seq <= channel.seqs.last && last_seq >= channel.seqs.first;
    };
    return std::any_of(head.channels.begin(), head.channels.end(),
                       [&](const auto& each) { return has(each.channel, each.first_seq, each.last_seq); }) ||
           std::any_of(head.gaps.begin(), head.gaps.end(),
                       [&](const auto& each) { return has(each.gap.channel, each.gap.first_seq, each.gap.last_seq); });
}

const LogCursor::Channel& LogCursor::channel(ChannelId id, const std::vector<store::SegmentChannel>& definitions) {
    if (to_index(id) >= channels_.size() || channels_[to_index(id)].want == Want::unknown) {
        std::for_each(definitions.begin(), definitions.end(), [this](const auto& each) { learn(each); });
        channels_.resize(std::max(channels_.size(), to_index(id) + std::size_t{1}));
        Channel& channel = channels_[to_index(id)];
        channel.want = channel.want == Want::unknown ? Want::no : channel.want;
    }
    return channels_[to_index(id)];
}

void LogCursor::learn(const store::SegmentChannel& definition) {
    channels_.resize(std::max(channels_.size(), to_index(definition.id) + std::size_t{1}));
    Channel& channel = channels_[to_index(definition.id)];
    if (channel.want != Want::unknown) {
        return;
    }
    const auto seqs = options_.selection->find(definition.device + "/" + definition.channel);
    channel.want = seqs ? Want::yes : Want::no;
    channel.seqs = seqs.value_or(SampleSelection::Seqs{});
    channel.id = definition.id;
    if (seqs && names_ != nullptr) {
        const auto id = names_->channels.add({}, definition.device, definition.channel, definition.unit);
        channel.want = id ? Want::yes : Want::no;
        channel.id = id.value_or(ChannelId{});
    }
}

bool LogCursor::can_continue(std::int64_t epoch_ms, std::uint64_t position, const SampleSelection& selection) const {
    return epoch_ms == options_.epoch_ms && position >= batch_position_ && position <= this->position() &&
           (&selection == options_.selection.get() || selection == *options_.selection);
}

void LogCursor::move_to(std::uint64_t position) {
    is_position_known_ = true;
    skip_to_ = position;
    if (position < position_) {
        begin_block();
    }
}

void LogCursor::begin_block() noexcept {
    position_ = row_position_ = batch_position_;
    next_sample_ = next_gap_ = next_skip_ = 0;
}

bool LogCursor::has_rest() const noexcept {
    return next_sample_ < batch_.samples.size() || next_gap_ < batch_.gaps.size();
}

/// Returns the index in the block of the next sample, or of one after the last sample.
std::size_t LogCursor::next_place() const noexcept {
    return next_sample_ >= batch_.samples.size() ? store::BlockEncoder::samples_max
           : batch_.places.empty()               ? next_sample_
                                                 : batch_.places[next_sample_];
}

/// Returns the position of the next sample of the block, or the one after the block.
std::uint64_t LogCursor::next_position() const noexcept {
    if (!batch_.published_before || next_sample_ >= batch_.samples.size()) {
        return std::max(position(), batch_.published_after.value_or(0));
    }
    std::uint64_t next = row_position_ + next_place();
    for (std::size_t i = next_skip_; i < batch_.skips.size() && batch_.skips[i].before_sample <= next_place(); ++i) {
        next += batch_.skips[i].samples;
    }
    return next;
}

/// Reads the next block, unless the epoch or the log ends here.
std::optional<LogCursor::Result> LogCursor::next_block(SamplePage& page) {
    skip_to_ = batch_position_ = position();
    begin_block();
    const bool has_more = !is_at_epoch_end_ && reader_.next(batch_);
    is_at_epoch_end_ = is_at_epoch_end_ || (has_more && batch_.epoch_ms != options_.epoch_ms);
    if (!has_more || is_at_epoch_end_) {
        batch_.clear();
        return is_at_epoch_end_ ? Result::epoch_end : Result::log_end;
    }
    has_ended_ = batch_.ends_epoch;
    if (!batch_.published_before) {
        return std::nullopt;
    }
    if (is_position_known_) {
        const bool is_removed = std::any_of(batch_.gaps.begin(), batch_.gaps.end(), [](const auto& each) {
            return each.gap.reason == store::GapReason::retention;
        });
        loss_ = is_removed ? store::GapReason::retention : loss_;
        pass(*batch_.published_before, page);
    }
    is_position_known_ = true;
    batch_position_ = *batch_.published_before;
    begin_block();
    return std::nullopt;
}

/// Ends the current block, whose last samples may be missing.
void LogCursor::end_block(SamplePage& page) {
    if (!batch_.published_after) {
        return;
    }
    approach(page, UINT64_MAX);
    position_ = std::max(position_, *batch_.published_after);
}

void LogCursor::pass(std::uint64_t position, SamplePage& page) {
    const std::uint64_t from = this->position();
    if (position > from) {
        page.missing.push_back({from, position - 1, loss_});
    }
    position_ = std::max(position, position_);
}

void LogCursor::add_gap(SamplePage& page) {
    const store::LogGap& gap = batch_.gaps[next_gap_++].gap;
    const Channel& channel = this->channel(gap.channel, *batch_.definitions);
    if (channel.want == Want::yes && position_ >= skip_to_) {
        page.gaps.push_back(
            {static_cast<std::uint32_t>(page.samples.size()), {channel.id, gap.first_seq, gap.last_seq, gap.reason}});
    }
    loss_ = store::was_published(gap.reason) ? gap.reason : loss_;
}

/// Moves to the next sample of the block, or to `until` if that is before it: over samples that the log leaves out,
/// which are not missing, and over samples that cannot be read, which are.
void LogCursor::approach(SamplePage& page, std::uint64_t until) {
    if (batch_.is_passed_over) {
        skip_to_ = std::max(skip_to_, std::min(next_position(), until));
        return;
    }
    const std::size_t place = next_place();
    for (; next_skip_ < batch_.skips.size() && batch_.skips[next_skip_].before_sample <= place; ++next_skip_) {
        const store::BlockSkip& skip = batch_.skips[next_skip_];
        const std::uint64_t begin = row_position_ + skip.before_sample;
        pass(std::min(begin, until), page);
        if (begin + skip.samples > until) {
            skip_to_ = std::max(skip_to_, until);
            return;
        }
        row_position_ += skip.samples;
        position_ = std::max(position_, begin + skip.samples);
    }
    pass(std::min(next_position(), until), page);
}

void LogCursor::add_sample(SamplePage& page) {
    if (batch_.published_before) {
        approach(page, UINT64_MAX);
    }
    const TelemetrySample& sample = batch_.samples[next_sample_++];
    const Channel& channel = this->channel(sample.channel, *batch_.definitions);
    if (channel.want == Want::yes && position_ >= skip_to_) {
        page.samples.push_back(sample);
        page.samples.back().channel = channel.id;
        page.positions.push_back(position_);
    }
    ++position_;
    loss_ = store::GapReason::damaged;
}

LogCursor::Result LogCursor::fill(SamplePage& page, std::uint64_t until) {
    std::size_t blocks = 0;
    std::size_t decoded = 0;
    while (page.samples.size() < page_samples_max && page.gaps.size() < page_samples_max) {
        if (next_position() >= until) {
            approach(page, until);
            return Result::page_full;
        }
        if (!has_rest()) {
            end_block(page);
            if (++blocks > page_blocks_max || decoded > page_decoded_max) {
                return Result::page_full;
            }
            if (const auto end = next_block(page)) {
                return *end;
            }
            decoded += batch_.samples.size();
        } else if (next_gap_ < batch_.gaps.size() && batch_.gaps[next_gap_].before_sample <= next_sample_) {
            add_gap(page);
        } else {
            add_sample(page);
        }
    }
    return Result::page_full;
}

}  // namespace telegate
