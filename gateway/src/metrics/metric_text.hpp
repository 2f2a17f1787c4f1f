#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace telegate {

enum class MetricType : std::uint8_t { counter, gauge, info, summary };
[[nodiscard]] std::string_view to_string(MetricType type) noexcept;

enum class MetricFormat : std::uint8_t { prometheus, open_metrics };  // text 0.0.4, text 1.0.0

/// A label name and its value: {"device", "host"}.
struct MetricLabel {
    std::string_view name;
    std::string_view value;
};

/// The name and meaning of a metric.
struct MetricName {
    std::string_view name;  // without _total and _info
    MetricType type = MetricType::gauge;
    std::string_view help;

    /// Returns the name as samples have it: with _total or _info.
    [[nodiscard]] std::string of_samples() const;
    /// Returns the last word of the name if it is a unit; "" otherwise.
    [[nodiscard]] std::string_view unit() const noexcept;
};

/// Writes metrics in one of the two text formats.
///
/// Threads: one.
/// Limits: as much memory as the output.
/// Failure: std::bad_alloc. Label values may be any bytes: those that are not UTF-8 are replaced.
class MetricText {
  public:
    explicit MetricText(MetricFormat format) noexcept : format_(format) {}

    /// Starts a metric; the following add() calls belong to it. A metric without samples is not written.
    void begin(const MetricName& metric) noexcept;
    void add(std::initializer_list<MetricLabel> labels, double value);
    /// Adds a whole number, or a boolean as 0 or 1.
    void add(std::initializer_list<MetricLabel> labels, std::unsigned_integral auto value) {
        add_line({labels.begin(), labels.size()}, std::to_string(value));
    }
    /// Adds nothing without a value.
    template <class Value>
    void add(std::initializer_list<MetricLabel> labels, const std::optional<Value>& value) {
        if (value) {
            add(labels, *value);
        }
    }
    /// Adds an info: the labels are its content.
    void add_info(std::span<const MetricLabel> labels) { add_line(labels, "1"); }
    [[nodiscard]] std::string finish() &&;

  private:
    void add_head();
    void add_line(std::span<const MetricLabel> labels, std::string_view value);

    const MetricFormat format_;
    MetricName metric_{};
    bool has_head_ = false;
    std::string text_;
};

}  // namespace telegate
