#include "live_reader.hpp"

#include "encode/notice.hpp"
#include "json_scan.hpp"
#include "parse_any.hpp"
#include "record_payload.hpp"

#include <utility>

namespace telegate::tail {
namespace {

bool read_object(PayloadFormat format, std::string_view topic, std::string_view payload, Merger& merger) {
    ScannedSample scanned;
    SampleTexts texts;
    std::string_view rest = payload;
    const bool is_scanned = format == PayloadFormat::json && scan_sample(rest, scanned) && rest.empty();
    if (!is_scanned && !parse_any_sample(format, payload, scanned.sample, texts)) {
        return false;
    }
    scanned.sample.topic = topic;
    merger.live(scanned.sample);
    return true;
}

bool read_records(std::string_view topic, std::string_view payload, Merger& merger) {
    if (!are_sample_records(payload)) {
        return false;
    }
    Sample sample;
    sample.topic = topic;
    for (; !payload.empty(); payload.remove_prefix(record_bytes)) {
        read_record(payload, sample);
        merger.live(sample);
    }
    return true;
}

void read_notice(NoticeKind kind, std::string_view topic, const NoticeFields& fields, Merger& merger) {
    if (kind == NoticeKind::gap) {
        merger.gap({topic, fields.epoch_ms, fields.seqs.first, fields.seqs.last, parse_reason(fields.reason)});
    } else {
        merger.beat({topic, fields.epoch_ms, fields.seqs.last});
    }
}

/// Passes a message to the merger. Returns false for a payload that is not of this format.
bool read_as(PayloadFormat format, std::string_view topic, std::string_view payload, Merger& merger) {
    for (const auto& [suffix, kind] :
         {std::pair(gap_suffix, NoticeKind::gap), std::pair(beat_suffix, NoticeKind::beat)}) {
        if (topic.ends_with(suffix)) {
            topic.remove_suffix(suffix.size());
            const auto fields = read_notice(format, kind, payload);
            if (fields && fields->seqs.last <= seq_max) {
                read_notice(kind, topic, *fields, merger);
                return true;
            }
            return false;
        }
    }
    return format == PayloadFormat::record ? read_records(topic, payload, merger)
                                           : read_object(format, topic, payload, merger);
}

}  // namespace

void LiveReader::read(std::string_view topic, std::string_view payload) {
    if (topic.size() <= topic_bytes_max) {
        if (read_as(format_, topic, payload, *merger_)) {
            return;
        }
        for (const PayloadFormat format : payload_format_names.values) {
            if (format != format_ && read_as(format, topic, payload, *merger_)) {
                format_ = format;
                return;
            }
        }
    }
    if (++not_understood_ == 1) {
        strange_topic_ = topic.substr(0, topic_bytes_max);
    }
}

}  // namespace telegate::tail
