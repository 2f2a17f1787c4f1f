#pragma once

#include "device/sample_batch.hpp"
#include "http/http_driver.hpp"
#include "http/json_pointers.hpp"
#include "http/metrics_text.hpp"
#include "metrics/line_intake.hpp"
#include "metrics/metric_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate::http {

/// Turns responses into samples: of the values that channels name as their source, or of all values if no channel has a
/// source.
///
/// Threads: the constructor any; all other functions the thread that reads the device.
/// Limits: channels_max names of values; values with additional names are counted in the channel `fields.refused`.
/// Failure: the constructor throws std::invalid_argument for an invalid or duplicate source. read() returns what is
/// wrong with a response; a new name can throw std::bad_alloc.
class AnswerReader {
  public:
    explicit AnswerReader(const HttpDriverOptions& options);

    void open(SampleBatch& batch);
    /// Adds the samples of a response. Returns what is wrong with it; "" if nothing is.
    [[nodiscard]] std::string read(std::string_view body, bool is_openmetrics, SampleBatch& batch);
    /// Returns whether the last response had a value.
    [[nodiscard]] bool has_values() const noexcept { return has_values_; }

  private:
    struct Source {
        std::string channel_name;
        std::string unit;
        std::string text;
        SeriesSelector selector;  // for prometheus
        SampleBatch::Channel channel = SampleBatch::Channel::none;
        std::uint32_t found = 0;  // in the current response
        double value = 0;         // for prometheus
        Quality quality = Quality::good;
    };

    [[nodiscard]] std::string read_json(std::string_view body, SampleBatch& batch);
    [[nodiscard]] std::string read_metrics(std::string_view body, bool is_openmetrics, SampleBatch& batch);
    void add(const MetricsLine& series);
    void announce(const MetricsLine& first, std::string_view rest);
    [[nodiscard]] metrics::SeriesName name_of(const MetricsLine& series) noexcept;
    void add_by_name(const MetricsLine& series, SampleBatch& batch);
    [[nodiscard]] std::string trouble_of_sources() const;

    const HttpFormat format_;
    std::vector<Source> sources_;
    std::optional<JsonPointers> pointers_;  // for json sources
    metrics::MetricSink sink_;
    metrics::JsonIntake intake_;
    metrics::MetricName name_;
    std::unordered_multimap<std::string, std::size_t, TextHash, std::equal_to<>> sources_of_;  // by metric
    SampleBatch::Channel refused_ = SampleBatch::Channel::none;
    bool has_values_ = false;
};

}  // namespace telegate::http
