#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

enum class MetricType : std::uint8_t { counter, gauge, info, summary };
[[nodiscard]] std::string_view to_string(MetricType type) noexcept;

enum class MetricFormat : std::uint8_t { prometheus, open_metrics };  // text 0.0.4, text 1.0.0

/// A label name and its value: {"device", "host"}.
struct MetricLabel {
    std::string_view name;
    std::string_view value;
};
using MetricLabels = std::vector<MetricLabel>;

/// The name and meaning of a metric.
struct MetricName {
    std::string_view name;  // without _total and _info
    MetricType type = MetricType::gauge;
    std::string_view help;
    std::string_view by = {};  // the label whose value is the name of a JSON
                               // member or an enumerator; "": none

    /// Returns the name as samples have it: with _total or _info.
    [[nodiscard]] std::string of_samples() const;
    /// Returns the last word of the name if it is a unit; "" otherwise.
    [[nodiscard]] std::string_view unit() const noexcept;
};

constexpr MetricName counter(std::string_view name, std::string_view help, std::string_view by = {}) {
    return {name, MetricType::counter, help, by};
}
constexpr MetricName gauge(std::string_view name, std::string_view help, std::string_view by = {}) {
    return {name, MetricType::gauge, help, by};
}

/// A metric, the names of its labels and the lines of its samples.
struct MetricFamily {
    MetricName metric;
    std::string labels;  // "device, reason"
    std::string samples;
};

/// Collects the samples of metrics and writes them in one of the two text formats. The metrics have the order in which
/// each was first described or added.
///
/// Threads: one.
/// Limits: as much memory as twice the output.
/// Failure: std::bad_alloc. Label values may be any bytes: those that are not UTF-8 are replaced.
class MetricText {
  public:
    /// Adds a metric without samples.
    void describe(const MetricName& metric, const MetricLabels& labels) { (void)family(metric, labels); }
    /// Adds a sample: a number, a boolean as 0 or 1, or nothing for a std::optional without a value.
    template <class Value>
    void add(const MetricName& metric, const MetricLabels& labels, const Value& value) {
        if constexpr (std::integral<Value>) {
            add_line(metric, labels, std::to_string(value));
        } else if constexpr (std::floating_point<Value>) {
            add_line(metric, labels, number_text(value));
        } else if (value) {
            add(metric, labels, *value);
        }
    }
    [[nodiscard]] const std::vector<MetricFamily>& families() const noexcept { return families_; }
    /// Returns the text of all metrics that have samples.
    [[nodiscard]] std::string text(MetricFormat format) const;

  private:
    [[nodiscard]] static std::string number_text(double value);
    [[nodiscard]] MetricFamily& family(const MetricName& metric, const MetricLabels& labels);
    void add_line(const MetricName& metric, const MetricLabels& labels, std::string_view value);

    std::vector<MetricFamily> families_;
    std::size_t last_ = 0;  // index of the last family used; the next one is usually close
};

}  // namespace telegate
