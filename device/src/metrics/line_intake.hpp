#pragma once

#include "host/text_scan.hpp"
#include "metrics/given_time.hpp"
#include "metrics/influx.hpp"
#include "metrics/json_scan.hpp"
#include "metrics/metric_sink.hpp"
#include "metrics/statsd.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate::metrics {

/// The context of a line: the target of its metrics, and its time.
struct LineTarget {
    SampleBatch& batch;
    MetricSink& sink;
    const MetricRules& rules;
    Arrival arrival;

    /// Sets the time of the samples that are added from now on: `given_utc_ns` if it should be used, otherwise the time
    /// of arrival. Returns false for an implausible time.
    [[nodiscard]] bool stamp(std::optional<std::int64_t> given_utc_ns) const noexcept;
    /// Reports why a line is refused. Returns false.
    [[nodiscard]] bool refuse(std::string_view why, std::string_view line) const noexcept {
        batch.refused(why, line);
        return false;
    }
};

inline constexpr std::string_view time_fault = "implausible time: must be from 2000 to one day from now";

/// More than a sample can hold, so the batch detects and flags truncation, plus a whole character.
inline constexpr std::size_t text_value_bytes = TelemetrySample::text_bytes_max + 4;

/// Takes the next line, without its LF or CR LF, from the front of `text`; empty if nothing is left.
[[nodiscard]] inline std::string_view take_line(std::string_view& text) noexcept {
    std::string_view line = host::take_line(text);
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    return line;
}

/// Adds a sample of a value; null gets quality bad. `event` must be a value.
void add_value(SampleBatch& batch, SampleBatch::Channel channel, const JsonScan& scan, JsonEvent event);

/// The intakes turn lines into samples, and keep state between lines.
///
/// Threads: one.
/// Limits: those of MetricSink and of the line readers.
/// Failure: add_line() returns false for a refused line, and adds no samples of it. std::bad_alloc for new names.
class StatsdIntake {
  public:
    explicit StatsdIntake(std::size_t metrics_max) { waiting_.reserve(metrics_max); }

    [[nodiscard]] bool add_line(std::string_view line, const LineTarget& target);
    /// Adds samples of the running totals that have changed.
    void finish(SampleBatch& batch);

  private:
    void count(Metric& metric, const LineTarget& target, bool is_time_given);
    static void measure(Metric& metric, std::string_view values, bool is_gauge, SampleBatch& batch);
    void make_name() noexcept;

    StatsdLine line_;
    MetricName name_;
    std::vector<Metric*> waiting_;
};

class InfluxIntake {
  public:
    [[nodiscard]] bool add_line(std::string_view line, const LineTarget& target);
    void finish(SampleBatch& /*batch*/) noexcept {}

  private:
    void make_stem() noexcept;
    [[nodiscard]] SeriesName name_of(const InfluxField& field, const MetricName::Mark& stem) noexcept;
    void announce(std::string_view fields, const MetricName::Mark& stem, MetricSink& sink);
    static void add_sample(const InfluxField& field, SampleBatch::Channel channel, SampleBatch& batch);

    InfluxLine line_;
    MetricName name_;
};

class JsonIntake {
  public:
    [[nodiscard]] bool add_line(std::string_view line, const LineTarget& target);
    void finish(SampleBatch& /*batch*/) noexcept {}

  private:
    struct Level {
        MetricName::Mark mark;  // of the object or array itself
        bool is_array = false;
        std::uint32_t index = 0;  // of the next element
    };

    [[nodiscard]] bool check_line(std::string_view line, const LineTarget& target);
    [[nodiscard]] bool record_member(const JsonScan& scan, JsonEvent event, const LineTarget& target);
    [[nodiscard]] JsonEvent step(JsonScan& scan) noexcept;
    void begin_line() noexcept;
    void begin_element(JsonEvent event) noexcept;
    void add_sample(const JsonScan& scan, JsonEvent event, const LineTarget& target);
    [[nodiscard]] bool is_series(const MetricRules& rules) const noexcept;
    void announce(JsonScan scan, const LineTarget& target);

    std::string_view fault_;  // of the last refused line
    MetricName name_;
    std::array<Level, JsonScan::depth_max> levels_{};
    std::size_t depth_ = 0;      // used entries of levels_
    std::string_view member_;    // of the outermost object, raw
    std::string_view name_raw_;  // raw value of the name member
    std::optional<std::int64_t> given_ns_;
    JsonRepeats repeats_;
};

using LineIntake = std::variant<StatsdIntake, InfluxIntake, JsonIntake>;

}  // namespace telegate::metrics
