#include "metrics/metric_sink.hpp"

#include "core/topic.hpp"

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
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr std::size_t suffix_bytes = 9;
    std::string name = to_topic_part(shown.substr(0, topic_part_bytes_max - suffix_bytes));
    name.push_back('_');
    for (unsigned shift = 32; shift > 0; shift -= 4) {
        name.push_back(digits[(hash >> (shift - 4)) & 0xFU]);
    }
    return name;
}

}  // namespace

Metric* MetricSink::find_or_add(SampleBatch& batch, const MetricName& name, std::string_view unit) {
    if (!name.fits()) {
        ++left_out_;
        return nullptr;
    }
    auto known = metrics_.find(name.identity());
    if (known == metrics_.end()) {
        if (metrics_.size() >= metrics_max_) {
            ++left_out_;
            return nullptr;
        }
        const std::string channel = free_name(name);
        known = metrics_.emplace(name.identity(), Metric{batch.add_channel(channel, unit)}).first;
        names_.insert(channel);
    }
    if (known->second.channel == SampleBatch::Channel::none) {
        ++left_out_;
        return nullptr;
    }
    return &known->second;
}

std::string MetricSink::free_name(const MetricName& name) const {
    std::string wanted = to_topic_part(name.shown());
    if (name.shown().size() <= topic_part_bytes_max && !names_.contains(wanted)) {
        return wanted;
    }
    // Two identities with the same hash must get different names.
    for (std::uint32_t hash = stable_hash(name.identity());; ++hash) {
        wanted = with_hash(name.shown(), hash);
        if (!names_.contains(wanted)) {
            return wanted;
        }
    }
}

}  // namespace telegate::metrics
