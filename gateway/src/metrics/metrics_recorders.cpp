#include "metrics/metrics_table.hpp"

#include <array>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

template <class Value>
void add_recorders(Source source, Text text, const Value& value) {
    for (const DurableLogStatus& recorder : source.snapshot.recorders) {
        text.add({{"device", recorder.device}}, value(recorder));
    }
}

// clang-format off
constexpr std::array recorders_rows{
    MetricRow{{"telegate_recorder_samples", MetricType::counter, "",
               "Samples written to recordings; device is empty for the recorder of all devices."}, "device",
              [](Source s, Text t) { add_recorders(s, t, [](const DurableLogStatus& r) { return r.log.samples; }); }},
    MetricRow{{"telegate_recorder_lost", MetricType::counter, "",
               "Published samples that are not in the recording because the disk was too slow, full or missing."},
              "device", [](Source s, Text t) { add_recorders(s, t, [](const DurableLogStatus& r) { return r.lost; }); }},
    MetricRow{{"telegate_recorder_pending", MetricType::gauge, "", "Samples waiting to be written."}, "device",
              [](Source s, Text t) { add_recorders(s, t, [](const DurableLogStatus& r) { return r.pending; }); }},
    MetricRow{{"telegate_recorder_written_bytes", MetricType::counter, "bytes",
               "Bytes written to recordings."}, "device",
              [](Source s, Text t) { add_recorders(s, t, [](const DurableLogStatus& r) { return r.log.written_bytes; }); }},
    MetricRow{{"telegate_recorder_ok", MetricType::gauge, "", "1 if recordings can be written, 0 otherwise."}, "device",
              [](Source s, Text t) {
                  add_recorders(s, t, [](const DurableLogStatus& r) { return std::uint64_t{r.error.empty()}; });
              }},
};
// clang-format on

}  // namespace

std::span<const MetricRow> recorder_metrics() noexcept {
    return recorders_rows;
}

}  // namespace telegate
