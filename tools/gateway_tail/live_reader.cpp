#include "live_reader.hpp"

#include "encode/notice_encoder.hpp"
#include "json_scan.hpp"
#include "parse_any.hpp"
#include "record_payload.hpp"

#include <optional>

namespace telegate::tail {
namespace {

bool read_objects(ObjectCoding coding, std::string_view topic, std::string_view payload, Splice& splice) {
    Sample sample;
    SampleTexts texts;
    sample.topic = topic;
    const bool reads = parse_any_sample(coding, payload, sample, texts);
    if (reads) {
        splice.live(sample);
    }
    return reads;
}

bool read_json(std::string_view topic, std::string_view payload, Splice& splice) {
    ScannedSample scanned;
    std::string_view rest = payload;
    if (!scan_sample(rest, scanned) || !rest.empty()) {
        return read_objects(ObjectCoding::json, topic, payload, splice);
    }
    scanned.sample.topic = topic;
    splice.live(scanned.sample);
    return true;
}

bool read_records(std::string_view topic, std::string_view payload, Splice& splice) {
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

bool read_samples(PayloadFormat format, std::string_view topic, std::string_view payload, Splice& splice) {
    switch (format) {
        case PayloadFormat::json: return read_json(topic, payload, splice);
        case PayloadFormat::cbor: return read_objects(ObjectCoding::cbor, topic, payload, splice);
        case PayloadFormat::record: break;
    }
    return read_records(topic, payload, splice);
}

std::optional<NoticeFields> read_any_notice(PayloadFormat format, NoticeKind kind, std::string_view payload) {
    const auto fields = read_notice(format, kind, payload);
    return fields && fields->seqs.last <= seq_max ? fields : std::nullopt;
}

bool read_gap(PayloadFormat format, std::string_view topic, std::string_view payload, Splice& splice) {
    const auto fields = read_any_notice(format, NoticeKind::gap, payload);
    if (fields) {
        splice.gap({topic, fields->epoch_ms, fields->seqs.first, fields->seqs.last, parse_reason(fields->reason)});
    }
    return fields.has_value();
}

bool read_beat(PayloadFormat format, std::string_view topic, std::string_view payload, Splice& splice) {
    const auto fields = read_any_notice(format, NoticeKind::beat, payload);
    if (fields) {
        splice.beat({topic, fields->epoch_ms, fields->seqs.last});
    }
    return fields.has_value();
}

/// Returns false for a payload that is not of this format.
bool read_as(PayloadFormat format, std::string_view topic, std::string_view payload, Splice& splice) {
    if (topic.ends_with(gap_suffix)) {
        return read_gap(format, topic.substr(0, topic.size() - gap_suffix.size()), payload, splice);
    }
    if (topic.ends_with(beat_suffix)) {
        return read_beat(format, topic.substr(0, topic.size() - beat_suffix.size()), payload, splice);
    }
    return read_samples(format, topic, payload, splice);
}

}  // namespace

void LiveReader::read(std::string_view topic, std::string_view payload) {
    if (topic.size() <= topic_bytes_max) {
        if (read_as(format_, topic, payload, *splice_)) {
            return;
        }
        for (const PayloadFormat format : payload_format_names.values) {
            if (format != format_ && read_as(format, topic, payload, *splice_)) {
                format_ = format;
                return;
            }
        }
    }
    ++not_understood_;
    strange_topic_ = topic.substr(0, topic_bytes_max);
}

}  // namespace telegate::tail
