#include "live_reader.hpp"

#include "json_scan.hpp"
#include "parse_any.hpp"
#include "record_payload.hpp"

#include <array>

namespace telegate::tail {
namespace {

constexpr std::string_view gap_ending = "$gap";
constexpr std::string_view beat_ending = "$beat";

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

}  // namespace

/// Each function returns false for a payload that it cannot parse.
struct LiveReader::Format {
    bool (*samples)(std::string_view topic, std::string_view payload, Splice& splice);
    bool (*gap)(std::string_view payload, Gap& gap);
    bool (*beat)(std::string_view payload, Beat& beat);
};

const std::array<LiveReader::Format, 3> LiveReader::formats{{
    {read_json, [](auto payload, Gap& gap) { return parse_any_gap(ObjectCoding::json, payload, gap); },
     [](auto payload, Beat& beat) {
         return parse_any_beat(ObjectCoding::json, payload, beat);
     }},
    {[](auto topic, auto payload, Splice& splice) { return read_objects(ObjectCoding::cbor, topic, payload, splice); },
     [](auto payload, Gap& gap) { return parse_any_gap(ObjectCoding::cbor, payload, gap); },
     [](auto payload, Beat& beat) {
         return parse_any_beat(ObjectCoding::cbor, payload, beat);
     }},
    {read_records, read_gap_record, read_beat_record},
}};

LiveReader::LiveReader(Splice& splice) noexcept : splice_(&splice), format_(formats.data()) {}

void LiveReader::read(std::string_view topic, std::string_view payload) {
    if (topic.size() <= topic_bytes_max) {
        if (read_as(*format_, topic, payload)) {
            return;
        }
        for (const Format& format : formats) {
            if (&format != format_ && read_as(format, topic, payload)) {
                format_ = &format;
                return;
            }
        }
    }
    ++not_understood_;
    strange_topic_ = topic.substr(0, topic_bytes_max);
}

bool LiveReader::read_as(const Format& format, std::string_view topic, std::string_view payload) {
    if (topic.ends_with(gap_ending)) {
        Gap gap;
        gap.topic = topic.substr(0, topic.size() - gap_ending.size());
        const bool reads = format.gap(payload, gap);
        if (reads) {
            splice_->gap(gap);
        }
        return reads;
    }
    if (topic.ends_with(beat_ending)) {
        Beat beat;
        beat.topic = topic.substr(0, topic.size() - beat_ending.size());
        const bool reads = format.beat(payload, beat);
        if (reads) {
            splice_->beat(beat);
        }
        return reads;
    }
    return format.samples(topic, payload, *splice_);
}

}  // namespace telegate::tail
