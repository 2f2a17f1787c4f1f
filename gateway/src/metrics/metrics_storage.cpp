#include "encode/time_text.hpp"
#include "metrics/metrics_table.hpp"

#include <array>
#include <limits>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

/// Returns the function of a metric of the durable log, which has no sample without a log.
template <class Get>
constexpr MetricRow::Add of_log(Get /*get*/) {
    return [](Source source, Text text) {
        if (source.snapshot.log) {
            text.add({}, Get{}(*source.snapshot.log));
        }
    };
}

void add_log_dropped(Source source, Text text) {
    if (const auto& log = source.snapshot.log) {
        text.add({{"reason", "log_slow"}}, log->lost);
        text.add({{"reason", "log_full"}}, log->log.dropped_full);
    }
}

void add_log_reads_failed(Source source, Text text) {
    if (const auto& log = source.snapshot.log) {
        text.add({{"reason", "refused"}}, log->reads.refused);
        text.add({{"reason", "late"}}, log->reads.late);
        text.add({{"reason", "failed"}}, log->reads.failed);
    }
}

template <class Get>
constexpr MetricRow::Add each_uplink(Get /*get*/) {
    return [](Source source, Text text) {
        for (const UplinkReport& uplink : source.snapshot.uplinks) {
            text.add({{"uplink", uplink.name}}, Get{}(uplink));
        }
    };
}

double catch_up_seconds(const UplinkReport& uplink) {
    const auto& time = uplink.status.catch_up_time;
    return time ? static_cast<double>(time->count()) : std::numeric_limits<double>::infinity();
}

constexpr std::array storage_rows{
    counter("telegate_log_samples", "", "Samples handed to the durable log.",
            of_log([](const DurableLogStatus& l) { return l.log.samples; })),
    counter("telegate_log_dropped", "reason",
            "Published samples that are not in the log, by reason: log_slow or log_full.", add_log_dropped),
    gauge("telegate_log_pending", "", "Samples waiting to be written to the log.",
          of_log([](const DurableLogStatus& l) { return l.pending; })),
    gauge("telegate_log_bytes", "", "Size of the log on disk.",
          of_log([](const DurableLogStatus& l) { return l.log.bytes; })),
    counter("telegate_log_written_bytes", "", "Bytes written to the log.",
            of_log([](const DurableLogStatus& l) { return l.log.written_bytes; })),
    gauge("telegate_log_segments", "", "Segment files of the log.",
          of_log([](const DurableLogStatus& l) { return l.log.segments; })),
    counter("telegate_log_segments_removed", "", "Segment files removed because the log reached a limit.",
            of_log([](const DurableLogStatus& l) { return l.log.segments_removed; })),
    counter("telegate_log_segments_removed_for_space", "", "Segment files removed because the disk lacked space.",
            of_log([](const DurableLogStatus& l) { return l.log.segments_removed_for_space; })),
    counter("telegate_log_read_pages", "", "Pages read from the log for replays.",
            of_log([](const DurableLogStatus& l) { return l.reads.pages; })),
    counter("telegate_log_read_samples", "", "Samples read from the log for replays.",
            of_log([](const DurableLogStatus& l) { return l.reads.samples; })),
    counter("telegate_log_reads_failed", "reason",
            "Reads of the log without a result: refused (too many pending), late (not written in time) or failed.",
            add_log_reads_failed),
    gauge("telegate_log_full", "", "1 if the log is full, 0 otherwise.",
          of_log([](const DurableLogStatus& l) { return l.log.is_full; })),
    gauge("telegate_log_ok", "", "1 if the log can be written, 0 otherwise.",
          of_log([](const DurableLogStatus& l) { return l.error.empty(); })),
    gauge("telegate_uplink_connected", "uplink", "1 if the uplink is connected, 0 otherwise.",
          each_uplink([](const UplinkReport& u) { return u.status.is_connected; })),
    gauge("telegate_uplink_lag_seconds", "uplink",
          "Age of the newest sample before which everything is delivered; 0 if nothing waits.",
          each_uplink([](const UplinkReport& u) { return to_seconds(u.lag); })),
    counter("telegate_uplink_samples", "uplink", "Samples read from the durable log for the uplink.",
            each_uplink([](const UplinkReport& u) { return u.status.ledger.read; })),
    counter("telegate_uplink_samples_acknowledged", "uplink", "Samples that the back end has acknowledged.",
            each_uplink([](const UplinkReport& u) { return u.status.ledger.acknowledged; })),
    gauge("telegate_uplink_samples_in_flight", "uplink", "Samples read and not yet counted otherwise.",
          each_uplink([](const UplinkReport& u) { return u.status.ledger.in_flight; })),
    counter("telegate_uplink_samples_quarantined", "uplink",
            "Samples that the back end has refused, and that were delivered as missing.",
            each_uplink([](const UplinkReport& u) { return u.status.ledger.quarantined; })),
    counter("telegate_uplink_samples_missing", "uplink",
            "Samples that delivered gap notices name as missing for other reasons.",
            each_uplink([](const UplinkReport& u) { return u.status.ledger.gaps; })),
    counter("telegate_uplink_samples_returned", "uplink", "Samples that are read again, after a refusal or a rewind.",
            each_uplink([](const UplinkReport& u) { return u.status.ledger.returned; })),
    gauge("telegate_uplink_quarantine_samples", "uplink", "Samples in the quarantine.",
          each_uplink([](const UplinkReport& u) { return u.status.quarantined; })),
    gauge("telegate_uplink_paused", "uplink", "1 if the uplink is paused, 0 otherwise.",
          each_uplink([](const UplinkReport& u) { return u.status.is_paused; })),
    gauge("telegate_uplink_lag_samples", "uplink",
          "Samples and gaps of the durable log that are not delivered, of all channels.",
          each_uplink([](const UplinkReport& u) { return u.status.lag; })),
    gauge("telegate_uplink_backlog_samples", "uplink",
          "Of telegate_uplink_lag_samples, those that are delivered after new samples.",
          each_uplink([](const UplinkReport& u) { return u.status.backlog; })),
    gauge("telegate_uplink_catch_up_seconds", "uplink",
          "Estimated time until everything is delivered; +Inf if the log grows faster.",
          each_uplink([](const UplinkReport& u) { return catch_up_seconds(u); })),
    gauge("telegate_uplink_round_trip_seconds", "uplink", "Average time between a message and its acknowledgment.",
          each_uplink([](const UplinkReport& u) { return to_seconds(u.status.round_trip); })),
    counter("telegate_uplink_messages_sent", "uplink", "Messages sent to the back end, including repeated ones.",
            each_uplink([](const UplinkReport& u) { return u.status.counts.sent; })),
    counter("telegate_uplink_messages_resent", "uplink", "Messages sent again because they were not acknowledged.",
            each_uplink([](const UplinkReport& u) { return u.status.counts.resent; })),
    counter("telegate_uplink_messages_refused", "uplink",
            "Messages that the back end did not store, and that are sent again.",
            each_uplink([](const UplinkReport& u) { return u.status.counts.refused; })),
    counter("telegate_uplink_connections", "uplink", "Connections opened to the back end.",
            each_uplink([](const UplinkReport& u) { return u.status.connections; })),
    counter("telegate_uplink_losses", "uplink",
            "Times that the back end had lost acknowledged messages, which were then sent again.",
            each_uplink([](const UplinkReport& u) { return u.status.losses; })),
    counter("telegate_uplink_threads_abandoned", "",
            "Threads of uplinks that did not stop in time, for example because a disk did not respond.",
            [](Source source, Text text) { text.add({}, source.snapshot.uplinks_abandoned); }),
};

}  // namespace

constinit const std::span<const MetricRow> storage_metrics = storage_rows;

}  // namespace telegate
