#include "store/log_model.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace telegate::store {
namespace {

std::uint64_t mix(std::uint64_t value) noexcept {
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EB;
    return value ^ (value >> 31U);
}

}  // namespace

TelemetrySample make_sample(std::int64_t epoch_ms, ChannelId channel, std::uint64_t seq) {
    TelemetrySample sample;
    std::memset(static_cast<void*>(&sample), 0, sizeof sample);
    const std::uint64_t noise = mix(static_cast<std::uint64_t>(epoch_ms) * 1'000'003 + to_index(channel) * 7'919 + seq);
    sample.time_utc_ns = epoch_ms * 1'000'000 + static_cast<std::int64_t>(seq) * 1'000'000;
    sample.time_mono_ns = static_cast<std::int64_t>(seq) * 1'000'000 + 5;
    sample.seq = seq;
    sample.channel = channel;
    sample.type = static_cast<ValueType>(noise % 5);
    sample.quality = static_cast<Quality>((noise >> 8U) % 4);
    sample.flags = static_cast<std::uint8_t>((noise >> 16U) % 4);
    switch (sample.type) {
        case ValueType::real: sample.value.real = static_cast<double>(noise >> 20U) / 100.0; break;
        case ValueType::integer: sample.value.integer = static_cast<std::int64_t>(noise); break;
        case ValueType::boolean: sample.value.boolean = (noise & 1U) != 0; break;
        case ValueType::text:
            sample.text_bytes = static_cast<std::uint8_t>(noise % (TelemetrySample::text_bytes_max + 1));
            for (std::size_t i = 0; i < sample.text_bytes; ++i) {
                sample.value.text[i] = static_cast<char>('a' + (noise >> i) % 26);
            }
            break;
        case ValueType::none: break;
    }
    return sample;
}

void LogModel::record_sync(std::int64_t epoch_ms) {
    for (auto& [key, channel] : channels_) {
        if (key.first == epoch_ms) {
            channel.synced_seq = channel.last_seq;
        }
    }
}

std::string LogModel::check(FileSystem& files, const std::string& directory,
                            const std::set<GapReason>& allowed_for_synced) const {
    std::map<Key, std::uint64_t> seen;  // last numbers
    std::ostringstream wrong;
    const auto reach = [&](const Key& key, std::uint64_t first, std::uint64_t last) {
        std::uint64_t& before = seen[key];
        if (first != before + 1) {
            wrong << key.first << " " << key.second << ": " << first << " after " << before << "\n";
        }
        before = last;
    };
    const auto check_gap = [&](const Key& key, const LogGap& gap) {
        reach(key, gap.first_seq, gap.last_seq);
        const auto known = channels_.find(key);
        if (known == channels_.end() || allowed_for_synced.contains(gap.reason)) {
            return;
        }
        for (std::uint64_t seq = gap.first_seq; seq <= std::min(gap.last_seq, known->second.synced_seq); ++seq) {
            const bool was_gap =
                std::any_of(known->second.gaps.begin(), known->second.gaps.end(),
                            [&](const Range& range) { return range.first <= seq && seq <= range.last; });
            if (!was_gap) {
                wrong << key.first << " " << key.second << ": " << seq << " was synced and is missing as "
                      << to_string(gap.reason) << "\n";
                return;
            }
        }
    };

    LogReader reader(files, directory);
    LogBatch batch;
    Position position = 0;
    while (reader.next(batch)) {
        if (batch.position < position) {
            wrong << "position " << batch.position << " after " << position << "\n";
        }
        position = batch.end_position;
        std::size_t next_gap = 0;
        for (std::size_t i = 0; i <= batch.samples.size(); ++i) {
            for (; next_gap < batch.gaps.size() && batch.gaps[next_gap].before_sample == i; ++next_gap) {
                const LogGap& gap = batch.gaps[next_gap].gap;
                const SegmentChannel* const channel = batch.find(gap.channel);
                if (channel == nullptr) {
                    wrong << "gap of an undefined channel\n";
                } else {
                    check_gap({batch.epoch_ms, channel->topic()}, gap);
                }
            }
            if (i == batch.samples.size()) {
                break;
            }
            const TelemetrySample& sample = batch.samples[i];
            const SegmentChannel* const channel = batch.find(sample.channel);
            if (channel == nullptr) {
                wrong << "sample of an undefined channel\n";
                continue;
            }
            reach({batch.epoch_ms, channel->topic()}, sample.seq, sample.seq);
            const TelemetrySample expected = make_sample(batch.epoch_ms, sample.channel, sample.seq);
            if (std::memcmp(&expected, &sample, sizeof sample) != 0) {
                wrong << "wrong content of " << channel->channel << " " << sample.seq << "\n";
            }
        }
        if (next_gap != batch.gaps.size()) {
            wrong << "gaps out of order\n";
        }
    }
    for (const auto& [key, channel] : channels_) {
        const auto found = seen.find(key);
        const std::uint64_t last = found == seen.end() ? 0 : found->second;
        // An epoch that retention has removed in whole leaves no trace.
        if (last < channel.synced_seq && !(last == 0 && allowed_for_synced.contains(GapReason::retention))) {
            wrong << key.first << " " << key.second << ": synced up to " << channel.synced_seq << ", read up to "
                  << last << "\n";
        }
        if (last > channel.last_seq) {
            wrong << key.first << " " << key.second << ": read up to " << last << ", appended only up to "
                  << channel.last_seq << "\n";
        }
    }
    return wrong.str();
}

}  // namespace telegate::store
