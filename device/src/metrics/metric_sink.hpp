#pragma once

#include "device/sample_batch.hpp"
#include "metrics/metric_name.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace telegate::metrics {

/// The time at which a datagram arrived.
struct Arrival {
    std::int64_t utc_ns = 0;
    std::int64_t mono_ns = 0;
};

/// The channel and state of a metric.
struct Metric {
    SampleBatch::Channel channel = SampleBatch::Channel::none;
    bool has_fraction = false;  // once a running total is not a whole number, it stays in `real`
    bool is_waiting = false;    // the running total has changed and was not sent yet
    std::int64_t whole = 0;
    double real = 0;    // the last value of a gauge
    Arrival when = {};  // time of the last change of the running total
};

/// Maps metric names to channels. A name that cannot be used for a channel, because it is too long or another metric
/// has the same channel name, gets a suffix of eight hexadecimal digits from its identity. The suffix is the same after
/// a restart if the other metrics appear in the same order.
///
/// Threads: one.
/// Limits: metrics_max; up to MetricName::bytes_max bytes and a Metric for each. Only a new name allocates.
/// Failure: readings are dropped and counted if their name is too long, is new and beyond the limit, or has no space in
/// the channel table; std::bad_alloc for a new name.
class MetricSink {
  public:
    explicit MetricSink(std::size_t metrics_max) : metrics_max_(metrics_max) {}

    /// Reserves the name of a channel that the driver declares itself.
    void reserve(std::string_view channel) { names_.emplace(channel); }

    /// Returns the metric of this name, whose address does not change; nullptr if it is dropped.
    [[nodiscard]] Metric* find_or_add(SampleBatch& batch, const MetricName& name, std::string_view unit);
    /// Returns the number of dropped readings.
    [[nodiscard]] std::int64_t left_out() const noexcept { return left_out_; }
    [[nodiscard]] std::size_t size() const noexcept { return metrics_.size(); }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(std::string_view a, std::string_view b) const noexcept { return a == b; }
    };

    [[nodiscard]] std::string free_name(const MetricName& name) const;

    const std::size_t metrics_max_;
    std::unordered_map<std::string, Metric, Hash, Equal> metrics_;  // by identity
    // channel names, including the driver's own channels
    std::unordered_set<std::string> names_;
    std::int64_t left_out_ = 0;
};

}  // namespace telegate::metrics
