#include "rest/metrics_table.hpp"

#include <array>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

template <class Value>
void add_recorders(Source source, Text text, const Value& value) {
    for (const RecorderStatus& recorder : source.snapshot.recorders) {
        text.add({{"device", recorder.device}}, value(recorder));
    }
}

// clang-format off
constexpr std::array recorders_rows{
    MetricRow{{"telegate_recorder_samples", MetricType::counter, "",
               "Samples written to recordings; device is empty for the recorder of all."}, "device",
              [](Source s, Text t) { add_recorders(s, t, [](const RecorderStatus& r) { return r.samples; }); }},
    MetricRow{{"telegate_recorder_lost", MetricType::counter, "",
               "Samples that were published and are not in the recording, since the disk was too slow, full or gone."},
              "device", [](Source s, Text t) { add_recorders(s, t, [](const RecorderStatus& r) { return r.lost; }); }},
    MetricRow{{"telegate_recorder_pending", MetricType::gauge, "", "Samples that wait to be written."}, "device",
              [](Source s, Text t) { add_recorders(s, t, [](const RecorderStatus& r) { return r.pending; }); }},
    MetricRow{{"telegate_recorder_written_bytes", MetricType::counter, "bytes", "Bytes written to recordings."}, "device",
              [](Source s, Text t) { add_recorders(s, t, [](const RecorderStatus& r) { return r.bytes; }); }},
    MetricRow{{"telegate_recorder_ok", MetricType::gauge, "", "1 while recordings can be written, 0 while not."}, "device",
              [](Source s, Text t) {
                  add_recorders(s, t, [](const RecorderStatus& r) { return std::uint64_t{r.error.empty()}; });
              }},
};
// clang-format on

}  // namespace

std::span<const MetricRow> recorder_metrics() noexcept {
    return recorders_rows;
}

}  // namespace telegate
