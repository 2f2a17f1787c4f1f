#include "live_reader.hpp"

#include "encode/notice.hpp"
#include "json_scan.hpp"
#include "parse_any.hpp"
#include "record_payload.hpp"

#include <utility>

namespace telegate::tail {
namespace {

bool take_object(PayloadFormat format, std::string_view topic, std::string_view payload, Splice& splice) {
    ScannedSample scanned;
    SampleTexts texts;
    std::string_view rest = payload;
    const bool is_scanned = format == PayloadFormat::json && scan_sample(rest, scanned) && rest.empty();
    if (!is_scanned && !parse_any_sample(format, payload, scanned.sample, texts)) {
        return false;
    }
    scanned.sample.topic = topic;
    splice.live(scanned.sample);
    return true;
}

bool take_records(std::string_view topic, std::string_view payload, Splice& splice) {
    if (!are_sample_records(payload)) {
        return false;
    }
    Sample sample;
    sample.topic = topic;
    for (; !payload.empty(); payload.remove_prefix(record_bytes)) {
        read_record(payload, sample);
        splice.live(sample);
    }
    return true;
}

void take_notice(NoticeKind kind, std::string_view topic, const NoticeFields& fields, Splice& splice) {
    if (kind == NoticeKind::gap) {
        splice.gap({topic, fields.epoch_ms, fields.seqs.first, fields.seqs.last, parse_reason(fields.reason)});
    } else {
        splice.beat({topic, fields.epoch_ms, fields.seqs.last});
    }
}

/// Passes a message to the splice. Returns false for a payload that is not of this format.
bool take_as(PayloadFormat format, std::string_view topic, std::string_view payload, Splice& splice) {
    for (const auto& [suffix, kind] :
         {std::pair(gap_suffix, NoticeKind::gap), std::pair(beat_suffix, NoticeKind::beat)}) {
        if (topic.ends_with(suffix)) {
            topic.remove_suffix(suffix.size());
            const auto fields = read_notice(format, kind, payload);
            if (fields && fields->seqs.last <= seq_max) {
                take_notice(kind, topic, *fields, splice);
                return true;
            }
            return false;
        }
    }
    return format == PayloadFormat::record ? take_records(topic, payload, splice)
                                           : take_object(format, topic, payload, splice);
}

}  // namespace

void LiveReader::read(std::string_view topic, std::string_view payload) {
    if (topic.size() <= topic_bytes_max) {
        if (take_as(format_, topic, payload, *splice_)) {
            return;
        }
        for (const PayloadFormat format : payload_format_names.values) {
            if (format != format_ && take_as(format, topic, payload, *splice_)) {
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
