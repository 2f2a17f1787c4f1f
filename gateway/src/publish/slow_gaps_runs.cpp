#include "publish/slow_gaps_runs.hpp"

#include <utility>

namespace telegate {
namespace {

constexpr std::size_t kept_samples_min = 16;  // fewer are read as fast as they are looked up

}  // namespace

RunReader::Kept& RunReader::place_of(const LostRun& run) noexcept {
    constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;  // golden ratio: spreads neighboring positions
    static_assert(runs_kept_max == 1U << 8U);
    return kept_[static_cast<std::size_t>(((*run.position + run.bytes) * spread) >> (64U - 8U))];
}

const RunDigest& RunReader::read(PayloadFormat format, const LostRun& run) {
    if (!run.position || run.samples.size() < kept_samples_min) {
        read_into(run.samples, unkept_);
        return unkept_;
    }
    Kept& kept = place_of(run);
    if (kept.bytes == run.bytes && kept.position == *run.position && kept.format == format) {
        return kept.digest;
    }
    parts_kept_ -= kept.digest.parts.size();
    kept.bytes = 0;
    read_into(run.samples, kept.digest);
    parts_kept_ += kept.digest.parts.size();
    if (parts_kept_ > parts_kept_max) {
        unkept_ = std::move(kept.digest);
        kept_ = {};
        parts_kept_ = 0;
        return unkept_;
    }
    kept.format = format;
    kept.position = *run.position;
    kept.bytes = run.bytes;
    return kept.digest;
}

void RunReader::read_into(std::span<const LoggedSamples> newest_first, RunDigest& digest) {
    ++runs_read_;
    digest.parts.clear();
    for (auto samples = newest_first.rbegin(); samples != newest_first.rend(); ++samples) {
        record(samples->range(), digest);
    }
    const bool is_empty = newest_first.empty();
    digest.first = is_empty ? SamplePlace{} : SamplePlace{newest_first.back().channel, newest_first.back().first_seq};
    digest.last = is_empty ? SamplePlace{} : SamplePlace{newest_first.front().channel, newest_first.front().last_seq};
}

void RunReader::record(const SampleRange& missing, RunDigest& digest) {
    const std::size_t channel = to_index(missing.channel);
    if (channel >= known_.size()) {
        known_.resize(channel + 1);
    }
    Known& known = known_[channel];
    if (known.run == runs_read_ && digest.parts[known.part].last_seq + 1 == missing.first_seq) {
        digest.parts[known.part].last_seq = missing.last_seq;
        return;
    }
    known = {runs_read_, digest.parts.size()};
    digest.parts.push_back(missing);
}

}  // namespace telegate
