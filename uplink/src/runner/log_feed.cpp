#include "uplink/log_feed.hpp"

#include "core/bytes.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace telegate::uplink {
namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;
constexpr std::size_t log_id_bytes_shown = 8;  // distinguishes logs as well as all 16 bytes do

/// Returns "LOG.POSITION.SAMPLE.CHECKSUM". The checksum makes the id depend on the content, which other settings
/// change.
std::string message_id(const store::LogId& log, const OutgoingMessage& message) {
    std::string id;
    for (std::size_t i = 0; i < log_id_bytes_shown; ++i) {
        append_hex(id, static_cast<unsigned>(log[i]));
    }
    id += '.' + std::to_string(message.position) + '.' + std::to_string(message.begin.sample) + '.';
    const std::uint32_t checksum = crc32c(as_bytes(message.payload));
    for (unsigned shift = 32; shift > 0;) {
        shift -= 8;
        append_hex(id, checksum >> shift);
    }
    return id;
}

/// Sets where each message ends, of messages that end together at `end`.
void set_ends(std::vector<OutgoingMessage>& messages, BlockPlace end) {
    for (std::size_t i = messages.size(); i > 0; --i) {
        messages[i - 1].end = end;
        end = messages[i - 1].begin;
    }
}

}  // namespace

LogFeed::LogFeed(Parts parts) : parts_(std::move(parts)), reader_(parts_.files, parts_.log_directory) {
    reader_.throw_read_errors();  // a segment that cannot be read now may be intact, and must not be passed over
    if (parts_.encoding.pass_on) {
        reader_.leave_encoded();
    }
}

void LogFeed::seek(store::Position position, store::Position end) {
    reader_.seek(position);
    end_ = end;
    is_at_end_ = false;
    has_batch_ = false;
    outgoing_.clear();
    read_to_end_at_ = 0;
}

void LogFeed::fill(Delivery& delivery, store::Position synced) {
    while (delivery.has_capacity()) {
        if (!outgoing_.empty()) {
            delivery.add(std::move(outgoing_.front()));
            outgoing_.pop_front();
        } else if (!read_block(delivery, synced)) {
            return;
        }
    }
}

bool LogFeed::has_more(store::Position synced) const noexcept {
    return !outgoing_.empty() || (read_to_end_at_ != synced && !(has_batch_ && batch_.end_position > synced));
}

bool LogFeed::is_finished() const noexcept {
    return outgoing_.empty() && (is_at_end_ || read_to_end_at_ >= end_);
}

/// Reads a block and encodes it. Returns false if there is no further one that is synced.
bool LogFeed::read_block(Delivery& delivery, store::Position synced) {
    if (!has_batch_) {
        if (is_at_end_ || read_to_end_at_ == synced) {
            return false;
        }
        has_batch_ = reader_.next(batch_);
        if (!has_batch_) {
            read_to_end_at_ = synced;
            return false;
        }
        if (parts_.encoding.arrange) {
            parts_.encoding.arrange(batch_);
        }
    }
    if (batch_.position >= end_) {
        keep_gaps_before_end();
    } else if (batch_.end_position > synced) {
        return false;
    }
    encode_block();
    has_batch_ = false;
    if (encoded_.empty()) {
        delivery.skip_to(batch_.end_position);
    }
    for (std::size_t i = 0; i < encoded_.size(); ++i) {
        OutgoingMessage& message = encoded_[i];
        complete(message);
        message.part = static_cast<std::uint32_t>(i);
        message.is_last_part = i + 1 == encoded_.size();
        outgoing_.push_back(std::move(message));
    }
    return true;
}

/// Keeps the gaps of the block at the end: they name what the log has lost before it, such as a removed segment. That
/// is true even if the block is not synced.
void LogFeed::keep_gaps_before_end() {
    is_at_end_ = true;
    batch_.position = batch_.end_position = end_;
    batch_.samples.clear();
    batch_.is_encoded = false;
    batch_.stored.reset();
    for (store::BlockGap& gap : batch_.gaps) {
        gap.before_sample = 0;
    }
}

void LogFeed::encode_block() {
    encoded_.clear();
    find_quarantined();
    if (is_divided()) {
        reader_.decode(batch_);  // now, because a block that cannot be decoded cannot be passed on
    }
    if (!batch_.stored || !parts_.encoding.pass_on || !parts_.encoding.pass_on(batch_, encoded_)) {
        reader_.decode(batch_);
        parts_.encoding.encode(batch_, end_utc_ns(batch_.sample_count()), encoded_);
    }
    set_ends(encoded_, {batch_.sample_count(), static_cast<std::uint32_t>(batch_.gaps.size())});
    if (is_divided()) {
        for (OutgoingMessage& message : std::exchange(encoded_, {})) {
            add_divided(std::move(message));
        }
    }
}

void LogFeed::complete(OutgoingMessage& message) const {
    message.epoch_ms = batch_.epoch_ms;
    message.position = batch_.position;
    message.end_position = batch_.end_position;
    message.is_historical = parts_.is_historical;
    message.format = parts_.encoding.format;
    message.id = message_id(log_id_, message);
}

/// Whether a part of the block was refused.
bool LogFeed::is_divided() const noexcept {
    const auto rejected = rejected_.lower_bound({batch_.end_position, {}, {}});
    return !quarantined_.empty() || (rejected != rejected_.end() && rejected->first.block_end == batch_.end_position);
}

/// Adds a message, or its parts if it was refused or contains a quarantined sample.
void LogFeed::add_divided(OutgoingMessage message) {
    const Range range{batch_.end_position, message.begin, message.end};
    const auto rejected = rejected_.find(range);
    const bool is_refused = rejected != rejected_.end() || has_quarantined(range);
    if (is_refused && range.is_sample()) {
        add_refused(std::move(message), rejected == rejected_.end() ? std::string() : rejected->second);
    } else if (is_refused && range.entries() > 1) {
        const BlockPlace place = middle(range);
        add_half({range.block_end, range.begin, place});
        add_half({range.block_end, place, range.end});
    } else if (!unnamed_.contains(range)) {
        encoded_.push_back(std::move(message));
    }
}

void LogFeed::add_half(const Range& range) {
    copy_slice(range);
    std::vector<OutgoingMessage> messages;
    parts_.encoding.encode(slice_, end_utc_ns(range.end.sample), messages);
    for (OutgoingMessage& message : messages) {
        message.begin.sample += range.begin.sample;
        message.begin.gap += range.begin.gap;
        message.is_divided = true;
    }
    set_ends(messages, range.end);
    for (OutgoingMessage& message : messages) {
        add_divided(std::move(message));
    }
}

/// Quarantines the sample of a message, unless it is, and adds a gap notice instead.
void LogFeed::add_refused(OutgoingMessage message, const std::string& reason) {
    const TelemetrySample sample = batch_.samples[message.begin.sample];
    const BlockPlace begin = message.begin;
    const BlockPlace end = message.end;
    if (!quarantined_.contains(begin.sample)) {
        if (!parts_.quarantine.has_capacity(message.bytes())) {
            encoded_.push_back(std::move(message));
            return;
        }
        complete(message);
        parts_.quarantine.add({.log_id = log_id_,
                               .topic = topic_of(sample),
                               .seq = sample.seq,
                               .utc_ns = sample.time_utc_ns,
                               .refused_utc_ns = parts_.clock.utc_now_ns(),
                               .reason = reason,
                               .message = std::move(message)});
        quarantined_.insert(begin.sample);
    }
    if (unnamed_.contains({batch_.end_position, begin, end})) {
        return;
    }
    copy_slice({batch_.end_position, begin, begin});
    slice_.gaps.push_back({0, {sample.channel, sample.seq, sample.seq, store::GapReason::refused}});
    std::vector<OutgoingMessage> messages;
    parts_.encoding.encode(slice_, sample.time_utc_ns, messages);
    for (OutgoingMessage& notice : messages) {
        notice.begin = begin;
        notice.end = end;
        notice.is_divided = true;
        notice.refused = std::exchange(notice.missing, 0);
        encoded_.push_back(std::move(notice));
    }
}

/// Copies a range of the block.
void LogFeed::copy_slice(const Range& range) {
    slice_.clear();
    slice_.position = batch_.position;
    slice_.end_position = batch_.end_position;
    slice_.epoch_ms = batch_.epoch_ms;
    slice_.definitions = batch_.definitions;
    slice_.segment = batch_.segment;
    const auto samples = std::span(batch_.samples).first(range.end.sample).subspan(range.begin.sample);
    const auto gaps = std::span(batch_.gaps).first(range.end.gap).subspan(range.begin.gap);
    slice_.samples.assign(samples.begin(), samples.end());
    slice_.gaps.assign(gaps.begin(), gaps.end());
    for (store::BlockGap& gap : slice_.gaps) {
        gap.before_sample = std::clamp(gap.before_sample, range.begin.sample, range.end.sample) - range.begin.sample;
    }
}

/// Returns the place after half of the entries.
BlockPlace LogFeed::middle(const Range& range) const noexcept {
    BlockPlace place = range.begin;
    for (std::size_t i = 0; i < range.entries() / 2; ++i) {
        const bool is_gap = place.gap < range.end.gap &&
                            (place.sample == range.end.sample || batch_.gaps[place.gap].before_sample <= place.sample);
        ++(is_gap ? place.gap : place.sample);
    }
    return place;
}

/// Returns the time of gaps that precede a sample of the block, or its end.
std::int64_t LogFeed::end_utc_ns(std::uint32_t sample) const noexcept {
    if (batch_.samples.empty()) {
        return batch_.epoch_ms * ns_per_ms;
    }
    return batch_.samples[std::min<std::size_t>(sample, batch_.samples.size() - 1)].time_utc_ns;
}

std::string LogFeed::topic_of(const TelemetrySample& sample) const {
    const store::SegmentChannel* const channel = batch_.find(sample.channel);
    return channel == nullptr ? std::string() : channel->device + '/' + channel->channel;
}

void LogFeed::find_quarantined() {
    quarantined_.clear();
    if (!parts_.quarantine.has_block(log_id_, batch_.end_position)) {
        return;
    }
    reader_.decode(batch_);
    for (std::uint32_t i = 0; i < batch_.samples.size(); ++i) {
        const TelemetrySample& sample = batch_.samples[i];
        for (const QuarantinedSample& each : parts_.quarantine.samples()) {
            if (each.seq == sample.seq && each.message.epoch_ms == batch_.epoch_ms && each.log_id == log_id_ &&
                each.topic == topic_of(sample)) {
                quarantined_.insert(i);
            }
        }
    }
}

bool LogFeed::has_quarantined(const Range& range) const {
    const auto first = quarantined_.lower_bound(range.begin.sample);
    return first != quarantined_.end() && *first < range.end.sample;
}

bool LogFeed::divide(const OutgoingMessage& message, const std::string& reason) {
    const Range range{message.end_position, message.begin, message.end};
    const bool is_notice = message.refused > 0 || (range.entries() == 1 && !range.is_sample());
    const bool is_possible = range.entries() > 1 || parts_.quarantine.has_capacity(message.bytes());
    if (is_possible) {
        rejected_[range] = reason;
    }
    if (is_possible && is_notice) {
        unnamed_.insert(range);
    }
    return is_possible;
}

void LogFeed::forget_before(store::Position position) {
    // Gaps at the end of a segment have the same end as the block before them.
    rejected_.erase(rejected_.begin(), rejected_.lower_bound({position, {}, {}}));
    unnamed_.erase(unnamed_.begin(), unnamed_.lower_bound({position, {}, {}}));
}

}  // namespace telegate::uplink
