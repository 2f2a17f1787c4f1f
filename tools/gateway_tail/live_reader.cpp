#include "live_reader.hpp"

#include "json_scan.hpp"
#include "record_payload.hpp"

namespace telegate::tail {
namespace {

constexpr std::string_view gap_ending = "$gap";
constexpr std::string_view beat_ending = "$beat";

}  // namespace

void LiveReader::read(std::string_view topic, std::string_view payload) {
    Kind kind = Kind::sample;
    std::string_view channel = topic;
    if (topic.ends_with(gap_ending)) {
        kind = Kind::gap;
        channel.remove_suffix(gap_ending.size());
    } else if (topic.ends_with(beat_ending)) {
        kind = Kind::beat;
        channel.remove_suffix(beat_ending.size());
    }
    if (topic.size() <= topic_bytes_max && read_as(format_, kind, channel, payload)) {
        return;
    }
    for (const PayloadFormat format : {PayloadFormat::json, PayloadFormat::cbor, PayloadFormat::record}) {
        if (topic.size() <= topic_bytes_max && format != format_ && read_as(format, kind, channel, payload)) {
            format_ = format;
            return;
        }
    }
    ++not_understood_;
    strange_topic_ = topic.substr(0, topic_bytes_max);
}

bool LiveReader::read_as(PayloadFormat format, Kind kind, std::string_view topic, std::string_view payload) {
    switch (kind) {
        case Kind::gap: return read_gap(format, topic, payload);
        case Kind::beat: return read_beat(format, topic, payload);
        case Kind::sample: break;
    }
    return format == PayloadFormat::record ? read_records(topic, payload) : read_sample(format, topic, payload);
}

bool LiveReader::read_records(std::string_view topic, std::string_view payload) {
    if (!are_sample_records(payload)) {
        return false;
    }
    Sample sample;
    sample.topic = topic;
    for (; !payload.empty(); payload.remove_prefix(record_bytes)) {
        read_record(payload, sample);
        splice_->live(sample);
    }
    return true;
}

bool LiveReader::read_sample(PayloadFormat format, std::string_view topic, std::string_view payload) {
    ScannedSample scanned;
    std::string_view rest = payload;
    if (format == PayloadFormat::json && scan_sample(rest, scanned) && rest.empty()) {
        scanned.sample.topic = topic;
        splice_->live(scanned.sample);
        return true;
    }
    Sample sample;
    SampleTexts texts;
    sample.topic = topic;
    if (!parse_any_sample(format, payload, sample, texts)) {
        return false;
    }
    splice_->live(sample);
    return true;
}

bool LiveReader::read_gap(PayloadFormat format, std::string_view topic, std::string_view payload) {
    Gap gap;
    gap.topic = topic;
    const bool reads =
        format == PayloadFormat::record ? read_gap_record(payload, gap) : parse_any_gap(format, payload, gap);
    if (reads) {
        splice_->gap(gap);
    }
    return reads;
}

bool LiveReader::read_beat(PayloadFormat format, std::string_view topic, std::string_view payload) {
    Beat beat;
    beat.topic = topic;
    const bool reads =
        format == PayloadFormat::record ? read_beat_record(payload, beat) : parse_any_beat(format, payload, beat);
    if (reads) {
        splice_->beat(beat);
    }
    return reads;
}

}  // namespace telegate::tail
