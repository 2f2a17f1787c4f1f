#include "metrics/metrics_table.hpp"

#include <array>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

bool is_known(Source source) noexcept {
    return source.snapshot.clock.reading.sync != ClockSync::unknown;
}

// clang-format off
constexpr std::array clock_rows{
    MetricRow{{"telegate_clock_synchronized", MetricType::gauge, "",
               "1 if the kernel reports that the wall clock is synchronized, 0 if not; absent if it reports nothing."},
              "",
              [](Source s, Text t) {
                  if (is_known(s)) { t.add_flag({}, s.snapshot.clock.reading.sync == ClockSync::synchronized); }
              }},
    MetricRow{{"telegate_clock_estimated_error_seconds", MetricType::gauge, "seconds",
               "Estimated error of the wall clock, as reported by the kernel; absent if it reports nothing."}, "",
              [](Source s, Text t) {
                  if (is_known(s)) { t.add({}, s.snapshot.clock.reading.error_estimated_s); }
              }},
    MetricRow{{"telegate_clock_steps", MetricType::counter, "", "Number of steps of the wall clock."}, "",
              [](Source s, Text t) { t.add({}, s.snapshot.clock.steps); }},
    MetricRow{{"telegate_clock_last_step_seconds", MetricType::gauge, "seconds",
               "Size of the last step of the wall clock, positive if forward; 0 if there was none."}, "",
              [](Source s, Text t) {
                  t.add({}, s.snapshot.clock.last_step ? s.snapshot.clock.last_step->seconds : 0.0);
              }},
};
// clang-format on

}  // namespace

std::span<const MetricRow> clock_metrics() noexcept {
    return clock_rows;
}

}  // namespace telegate
