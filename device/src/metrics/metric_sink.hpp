#pragma once

#include "device/sample_batch.hpp"
#include "metrics/metric_name.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace telegate::metrics {

/// The time at which a datagram arrived.
struct Arrival {
    std::int64_t utc_ns = 0;
    std::int64_t mono_ns = 0;
};

/// The channel and state of a metric.
struct Metric {
    SampleBatch::Channel channel = SampleBatch::Channel::none;
    bool is_placed = false;     // false: the channel is not known yet, or another one must be used
    bool has_fraction = false;  // once a running total is not a whole number, it stays in `real`
    bool is_waiting = false;    // the running total has changed and was not sent yet
    bool is_rounded = false;    // the running total or the gauge contains a number that was rounded
    std::int64_t whole = 0;
    double real = 0;    // the last value of a gauge
    Arrival when = {};  // time of the last change of the running total
};

/// Maps series to channels, and to their state. The channel of a series has its readable name. If two series have
/// names that become equal as topic parts, neither keeps it: both get a suffix of eight hexadecimal digits from their
/// identity, and so does a name that is too long. The suffix depends on nothing else, and never changes again. The
/// series that already has a channel changes to the new one with its next reading, and the old channel gets quality
/// bad.
///
/// Threads: one.
/// Limits: metrics_max series, with up to two channels, MetricName::bytes_max bytes and a Metric for each. Only a new
/// name allocates. Failure: readings are dropped and counted if their name is too long, is new and beyond the limit, or
/// has no space in the channel table; std::bad_alloc for a new name.
class MetricSink {
  public:
    explicit MetricSink(std::size_t metrics_max) : metrics_max_(metrics_max) {}

    /// Reserves the name of a channel that the driver declares itself.
    void reserve(std::string_view channel) { claims_[std::string(channel)] = Claim{nullptr, true}; }

    /// Returns whether announce() would add the series.
    [[nodiscard]] bool is_new(const SeriesName& name) const noexcept {
        return name.fits && metrics_.size() < metrics_max_ && !metrics_.contains(name.identity);
    }
    /// Announces a series, without a channel. Series that are announced together are separated from their first reading
    /// on.
    void announce(const SeriesName& name);
    /// Returns the metric of this name, whose address does not change; nullptr if it is dropped.
    [[nodiscard]] Metric* find_or_add(SampleBatch& batch, const SeriesName& name, std::string_view unit);
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

    using Metrics = std::unordered_map<std::string, Metric, Hash, Equal>;
    /// The use of a channel name.
    struct Claim {
        Metric* first = nullptr;  // the series that has this name without a suffix
        bool is_shared = false;   // by several series, a suffix or a channel of the driver
        bool is_suffix = false;   // the name of a series, with its suffix
    };

    static void share(Claim& claim) noexcept;
    [[nodiscard]] Metrics::iterator add(const SeriesName& name);
    void place(SampleBatch& batch, Metric& metric, const SeriesName& name, std::string_view unit);
    [[nodiscard]] std::string name_with_suffix(const SeriesName& name) const;

    const std::size_t metrics_max_;
    Metrics metrics_;                                // by identity
    std::unordered_map<std::string, Claim> claims_;  // by channel name
    std::int64_t left_out_ = 0;
};

}  // namespace telegate::metrics
