#include "publish/slow_gaps_runs.hpp"

#include <charconv>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

constexpr std::string_view json_seq_key = "\"seq\":";
constexpr std::uint32_t no_channel = UINT32_MAX;
constexpr std::size_t kept_bytes_min = 1024;  // a shorter run is parsed as fast as it is looked up

/// Returns the sequence number if it is at offset `at`, where an earlier payload of the channel had it; nullopt
/// otherwise.
std::optional<SeqRange> json_seq_at(std::string_view payload, std::size_t at) noexcept {
    if (at == 0 || payload.size() < at ||
        payload.substr(at - json_seq_key.size(), json_seq_key.size()) != json_seq_key) {
        return std::nullopt;
    }
    std::uint64_t seq = 0;
    const auto result = std::from_chars(payload.data() + at, payload.data() + payload.size(), seq);
    return result.ec == std::errc() ? std::optional(SeqRange{seq, seq}) : std::nullopt;
}

std::optional<SeqRange> missing_in(PayloadFormat format, std::string_view gap_notice) noexcept {
    const auto fields = read_notice(format, NoticeKind::gap, gap_notice);
    return fields ? std::optional(fields->seqs) : std::nullopt;
}

}  // namespace

RunReader::Kept& RunReader::place_of(const LostRun& run) noexcept {
    constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;  // golden ratio: spreads neighboring positions
    static_assert(runs_kept_max == 1U << 8U);
    return kept_[((*run.position + run.wire.size()) * spread) >> (64U - 8U)];
}

const RunDigest& RunReader::read(PayloadFormat format, const LostRun& run) {
    if (!run.position || run.wire.size() < kept_bytes_min) {
        read_into(format, run.wire, unkept_);
        return unkept_;
    }
    Kept& kept = place_of(run);
    if (kept.bytes == run.wire.size() && kept.position == *run.position && kept.format == format) {
        return kept.digest;
    }
    parts_kept_ -= kept.digest.parts.size();
    kept.bytes = 0;
    read_into(format, run.wire, kept.digest);
    parts_kept_ += kept.digest.parts.size();
    if (parts_kept_ > parts_kept_max) {
        unkept_ = std::move(kept.digest);
        kept_ = {};
        parts_kept_ = 0;
        return unkept_;
    }
    kept.format = format;
    kept.position = *run.position;
    kept.bytes = run.wire.size();
    return kept.digest;
}

void RunReader::look_for_channels() {
    for (std::size_t i = known_.size(); i < channels_.size(); ++i) {
        const auto channel = static_cast<std::uint32_t>(i);
        by_topic_.emplace(channels_.at(static_cast<ChannelId>(channel)).topic, channel);
        known_.emplace_back();
    }
}

std::uint32_t RunReader::channel_of(std::string_view topic) {
    const auto found = by_topic_.find(topic);
    return found == by_topic_.end() ? no_channel : found->second;
}

std::optional<SeqRange> RunReader::seqs_of(PayloadFormat format, std::string_view payload, Known& known) {
    if (format != PayloadFormat::json) {
        return read_seqs(format, payload);
    }
    if (const auto seqs = json_seq_at(payload, known.seq_at)) {
        return seqs;
    }
    const auto seqs = read_seqs(format, payload);
    if (seqs) {
        known.seq_at = static_cast<std::uint32_t>(payload.find(json_seq_key) + json_seq_key.size());
    }
    return seqs;
}

std::optional<SamplePlace> RunReader::sample_in(PayloadFormat format, const LostMessage& message) {
    look_for_channels();
    const std::uint32_t channel = channel_of(message.topic);
    if (channel == no_channel) {
        return std::nullopt;
    }
    const auto seqs = seqs_of(format, message.payload, known_[channel]);
    return seqs ? std::optional(SamplePlace{static_cast<ChannelId>(channel), seqs->last}) : std::nullopt;
}

void RunReader::read_into(PayloadFormat format, Bytes wire, RunDigest& digest) {
    look_for_channels();
    ++runs_read_;
    digest.parts.clear();
    digest.first = {};
    digest.last = {};
    std::uint32_t guess = 0;
    std::uint32_t before = no_channel;
    while (!wire.empty()) {
        const LostMessage message = take_message(wire);
        std::uint32_t channel = guess;
        const bool is_guessed =
            guess < known_.size() && channels_.at(static_cast<ChannelId>(guess)).topic == message.topic;
        const bool is_gap = !is_guessed && message.topic.ends_with(gap_suffix);
        if (!is_guessed) {
            const std::size_t suffix = is_gap ? gap_suffix.size() : 0;
            channel = channel_of(message.topic.substr(0, message.topic.size() - suffix));
            if (channel == no_channel) {
                continue;
            }
        }
        if (before != no_channel) {
            known_[before].next = channel;
        }
        before = channel;
        guess = known_[channel].next;
        const auto seqs =
            is_gap ? missing_in(format, message.payload) : seqs_of(format, message.payload, known_[channel]);
        if (seqs) {
            note({*seqs, static_cast<ChannelId>(channel)}, digest);
        }
    }
}

void RunReader::note(const MissingSamples& missing, RunDigest& digest) {
    digest.first = digest.first.seq == 0 ? SamplePlace{missing.channel, missing.seqs.first} : digest.first;
    digest.last = {missing.channel, missing.seqs.last};
    Known& known = known_[to_index(missing.channel)];
    if (known.run == runs_read_ && digest.parts[known.part].seqs.last + 1 == missing.seqs.first) {
        digest.parts[known.part].seqs.last = missing.seqs.last;
        return;
    }
    known.run = runs_read_;
    known.part = static_cast<std::uint32_t>(digest.parts.size());
    digest.parts.push_back(missing);
}

}  // namespace telegate
