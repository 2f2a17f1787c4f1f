#include "rest/metrics_table.hpp"

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
    MetricRow{{"telegate_clock_synchronised", MetricType::gauge, "",
               "1 when the kernel says that the wall clock is kept right, 0 when not; missing when it does not say."}, "",
              [](Source s, Text t) {
                  if (is_known(s)) { t.add_flag({}, s.snapshot.clock.reading.sync == ClockSync::synchronised); }
              }},
    MetricRow{{"telegate_clock_estimated_error_seconds", MetricType::gauge, "seconds",
               "By how much the wall clock is wrong, as the kernel has it; missing when it does not say."}, "",
              [](Source s, Text t) {
                  if (is_known(s)) { t.add({}, s.snapshot.clock.reading.error_estimated_s); }
              }},
    MetricRow{{"telegate_clock_steps", MetricType::counter, "", "Steps of the wall clock."}, "",
              [](Source s, Text t) { t.add({}, s.snapshot.clock.steps); }},
    MetricRow{{"telegate_clock_last_step_seconds", MetricType::gauge, "seconds",
               "How far the last step was, forward when positive; 0 when there was none."}, "",
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
