#pragma once

#include <cstdint>
#include <initializer_list>
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
    std::string_view unit = {};  // "" or the last word of the name
    std::string_view help;
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
    void add(std::initializer_list<MetricLabel> labels, std::uint64_t value);
    /// Adds an info: the labels are its content.
    void add_info(std::span<const MetricLabel> labels) { add_line(labels, "1"); }
    /// Adds a boolean.
    void add_flag(std::initializer_list<MetricLabel> labels, bool value) { add(labels, std::uint64_t{value}); }
    [[nodiscard]] std::string finish() &&;

  private:
    [[nodiscard]] std::string sample_name() const;
    void add_head();
    void add_line(std::span<const MetricLabel> labels, std::string_view value);

    const MetricFormat format_;
    MetricName metric_{};
    bool has_head_ = false;
    std::string text_;
};

}  // namespace telegate
