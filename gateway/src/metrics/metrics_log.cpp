#include "metrics/metrics_table.hpp"

#include <array>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

/// Adds a value of the durable log, if there is one.
template <class Value>
void add_log(Source source, Text text, const Value& value) {
    if (source.snapshot.log) {
        text.add({}, value(*source.snapshot.log));
    }
}

// clang-format off
constexpr std::array log_rows{
    MetricRow{{"telegate_log_samples", MetricType::counter, "", "Samples handed to the durable log."}, "",
              [](Source s, Text t) { add_log(s, t, [](const DurableLogStatus& l) { return l.log.samples; }); }},
    MetricRow{{"telegate_log_dropped", MetricType::counter, "",
               "Published samples that are not in the log, by reason: log_slow or log_full."}, "reason",
              [](Source s, Text t) {
                  if (s.snapshot.log) {
                      t.add({{"reason", "log_slow"}}, s.snapshot.log->lost);
                      t.add({{"reason", "log_full"}}, s.snapshot.log->log.dropped_full);
                  }
              }},
    MetricRow{{"telegate_log_pending", MetricType::gauge, "", "Samples waiting to be written to the log."}, "",
              [](Source s, Text t) { add_log(s, t, [](const DurableLogStatus& l) { return l.pending; }); }},
    MetricRow{{"telegate_log_bytes", MetricType::gauge, "bytes", "Size of the log on disk."}, "",
              [](Source s, Text t) { add_log(s, t, [](const DurableLogStatus& l) { return l.log.bytes; }); }},
    MetricRow{{"telegate_log_written_bytes", MetricType::counter, "bytes", "Bytes written to the log."}, "",
              [](Source s, Text t) { add_log(s, t, [](const DurableLogStatus& l) { return l.log.written_bytes; }); }},
    MetricRow{{"telegate_log_segments", MetricType::gauge, "", "Segment files of the log."}, "",
              [](Source s, Text t) { add_log(s, t, [](const DurableLogStatus& l) { return l.log.segments; }); }},
    MetricRow{{"telegate_log_segments_removed", MetricType::counter, "",
               "Segment files removed because the log reached a limit."}, "",
              [](Source s, Text t) {
                  add_log(s, t, [](const DurableLogStatus& l) { return l.log.segments_removed; });
              }},
    MetricRow{{"telegate_log_read_pages", MetricType::counter, "", "Pages read from the log for replays."}, "",
              [](Source s, Text t) { add_log(s, t, [](const DurableLogStatus& l) { return l.reads.pages; }); }},
    MetricRow{{"telegate_log_read_samples", MetricType::counter, "", "Samples read from the log for replays."}, "",
              [](Source s, Text t) { add_log(s, t, [](const DurableLogStatus& l) { return l.reads.samples; }); }},
    MetricRow{{"telegate_log_reads_failed", MetricType::counter, "",
               "Reads of the log without a result: refused (too many pending), late (not written in time) or failed."},
              "reason",
              [](Source s, Text t) {
                  if (s.snapshot.log) {
                      t.add({{"reason", "refused"}}, s.snapshot.log->reads.refused);
                      t.add({{"reason", "late"}}, s.snapshot.log->reads.late);
                      t.add({{"reason", "failed"}}, s.snapshot.log->reads.failed);
                  }
              }},
    MetricRow{{"telegate_log_full", MetricType::gauge, "", "1 if the log is full, 0 otherwise."}, "",
              [](Source s, Text t) {
                  add_log(s, t, [](const DurableLogStatus& l) { return std::uint64_t{l.log.is_full}; });
              }},
    MetricRow{{"telegate_log_ok", MetricType::gauge, "", "1 if the log can be written, 0 otherwise."}, "",
              [](Source s, Text t) {
                  add_log(s, t, [](const DurableLogStatus& l) { return std::uint64_t{l.error.empty()}; });
              }},
};
// clang-format on

}  // namespace

std::span<const MetricRow> log_metrics() noexcept {
    return log_rows;
}

}  // namespace telegate
