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

/// When a datagram came.
struct Arrival {
    std::int64_t utc_ns = 0;
    std::int64_t mono_ns = 0;
};

/// A metric's channel, and what is kept for it.
struct Metric {
    SampleBatch::Channel channel = SampleBatch::Channel::none;
    bool has_fraction = false;  // a running total that once was no whole number is `real` from then on
    bool is_waiting = false;    // a running total that has grown and is not given yet
    std::int64_t whole = 0;
    double real = 0;    // of a gauge its last value
    Arrival when = {};  // of what the running total grew by last
};

/// The metrics that have been met, and the way from a name to its channel. A name that cannot be a channel's as it is,
/// for its length, or because another metric's name has become the same, ends in eight hexadecimal digits made of its
/// identity: the same after every start, where the others met before it are.
///
/// Threads: one.
/// Limits:  metrics_max; of each up to MetricName::bytes_max bytes and a Metric. Only a new name allocates.
/// Failure: readings of names that are too long, of new ones beyond the limit, and of those that the channel table has
///          no room for are left out and counted; std::bad_alloc for a new name.
class MetricSink {
  public:
    explicit MetricSink(std::size_t metrics_max) : metrics_max_(metrics_max) {}

    /// No metric gets the name of this channel of the driver's own.
    void reserve(std::string_view channel) { names_.emplace(channel); }

    /// The metric of that name, whose place does not change; nullptr when it is left out.
    [[nodiscard]] Metric* find_or_add(SampleBatch& batch, const MetricName& name, std::string_view unit);
    /// Readings that were not given.
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
    std::unordered_set<std::string> names_;                         // of their channels, and the driver's own
    std::int64_t left_out_ = 0;
};

}  // namespace telegate::metrics
