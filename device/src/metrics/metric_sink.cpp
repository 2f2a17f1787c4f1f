#include "metrics/metric_sink.hpp"

#include "core/text.hpp"
#include "core/topic.hpp"

#include <utility>

namespace telegate::metrics {
namespace {

/// 32-bit FNV-1a: the same on every machine, unlike the hash of the standard library.
std::uint32_t stable_hash(std::string_view text) noexcept {
    constexpr std::uint32_t basis = 2'166'136'261;
    constexpr std::uint32_t prime = 16'777'619;
    std::uint32_t hash = basis;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * prime;
    }
    return hash;
}

std::string with_hash(std::string_view shown, std::uint32_t hash) {
    constexpr std::size_t suffix_bytes = 9;
    std::string name = to_topic_part(shown.substr(0, topic_part_bytes_max - suffix_bytes));
    name.push_back('_');
    for (unsigned shift = 32; shift > 0;) {
        shift -= 8;
        append_hex(name, hash >> shift);
    }
    return name;
}

}  // namespace

void MetricSink::announce(const SeriesName& name) {
    if (is_new(name)) {
        (void)add(name);
    }
}

Metric* MetricSink::find_or_add(SampleBatch& batch, const SeriesName& name, std::string_view unit) {
    if (!name.fits) {
        ++left_out_;
        return nullptr;
    }
    auto known = metrics_.find(name.identity);
    if (known == metrics_.end()) {
        known = add(name);
    }
    if (known == metrics_.end()) {
        ++left_out_;
        return nullptr;
    }
    Metric& metric = known->second;
    if (!metric.is_placed) [[unlikely]] {
        place(batch, metric, name, unit);
    }
    if (metric.channel == SampleBatch::Channel::none) {
        ++left_out_;
        return nullptr;
    }
    return &metric;
}

/// Returns the end if the limit is reached.
MetricSink::Metrics::iterator MetricSink::add(const SeriesName& name) {
    if (metrics_.size() >= metrics_max_) {
        return metrics_.end();
    }
    const auto added = metrics_.emplace(name.identity, Metric{}).first;
    if (name.shown.size() > topic_part_bytes_max) {
        return added;  // always has a suffix
    }
    const auto [claim, is_first] = claims_.try_emplace(to_topic_part(name.shown), Claim{&added->second});
    if (!is_first) {
        share(claim->second);
    }
    return added;
}

/// The series that has the name so far gives it up, once.
void MetricSink::share(Claim& claim) noexcept {
    claim.is_shared = true;
    if (Metric* const first = std::exchange(claim.first, nullptr)) {
        first->is_placed = false;
    }
}

void MetricSink::place(SampleBatch& batch, Metric& metric, const SeriesName& name, std::string_view unit) {
    std::string channel = to_topic_part(name.shown);
    const auto claim = claims_.find(channel);
    const bool gives_way = claim != claims_.end() && claim->second.is_suffix;  // the channel is another series' now
    std::string with_suffix = name_with_suffix(name);
    // The same settings may have been in use before, with other series that are not here yet.
    const bool has_suffix = name.shown.size() > topic_part_bytes_max || claim == claims_.end() ||
                            claim->second.is_shared || batch.has_channel(with_suffix);
    if (has_suffix) {
        if (claim != claims_.end() && claim->second.first == &metric) {
            claim->second.first = nullptr;
        }
        channel = std::move(with_suffix);
        Claim& own = claims_[channel];
        share(own);
        own.is_suffix = true;
    }
    const SampleBatch::Channel before = metric.channel;
    metric.channel = batch.add_channel(channel, unit);
    metric.is_placed = true;
    if (before != SampleBatch::Channel::none && before != metric.channel && !gives_way) {
        batch.add_absent(before);
    }
}

std::string MetricSink::name_with_suffix(const SeriesName& name) const {
    // Two identities with the same hash must get different names.
    for (std::uint32_t hash = stable_hash(name.identity);; ++hash) {
        std::string wanted = with_hash(name.shown, hash);
        const auto claim = claims_.find(wanted);
        if (claim == claims_.end() || !claim->second.is_suffix) {
            return wanted;
        }
    }
}

}  // namespace telegate::metrics
