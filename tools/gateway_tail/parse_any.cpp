#include "parse_any.hpp"

#include "json_scan.hpp"
#include "time_words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>

namespace telegate::tail {
namespace {

using Json = nlohmann::json;

/// Stops the decoder when arrays and maps are nested too deeply.
/// Threads: one. Limits: cbor_depth_max. Failure: none.
class Depth final : public nlohmann::json_sax<Json> {
  public:
    bool null() override { return true; }
    bool boolean(bool /*value*/) override { return true; }
    bool number_integer(number_integer_t /*value*/) override { return true; }
    bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
    bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
    bool string(string_t& /*value*/) override { return true; }
    bool binary(binary_t& /*value*/) override { return true; }
    bool key(string_t& /*value*/) override { return true; }
    bool start_object(std::size_t /*size*/) override { return ++depth_ <= cbor_depth_max; }
    bool end_object() override { return --depth_ >= 0; }
    bool start_array(std::size_t /*size*/) override { return ++depth_ <= cbor_depth_max; }
    bool end_array() override { return --depth_ >= 0; }
    bool parse_error(std::size_t /*place*/, const std::string& /*token*/, const Json::exception& /*why*/) override {
        return false;
    }

  private:
    int depth_ = 0;
};

/// Thrown for an unexpected member, like the exceptions of the library.
struct Malformed final : std::exception {};

/// Returns whether `read` throws neither of them.
template <class Read>
bool is_well_formed(const Read& read) {
    try {
        read();
        return true;
    } catch (const Json::exception&) {
        return false;
    } catch (const Malformed&) {
        return false;
    }
}

/// Returns a whole number from `min` to seq_max.
std::int64_t whole(const Json& object, const char* key, std::int64_t min = std::numeric_limits<std::int64_t>::min()) {
    const Json& found = object.at(key);
    const bool is_too_large = found.is_number_unsigned() && found.get<std::uint64_t>() > seq_max;
    if (!found.is_number_integer() || is_too_large || found.get<std::int64_t>() < min) {
        throw Malformed();
    }
    return found.get<std::int64_t>();
}

std::uint64_t seq(const Json& object, const char* key, std::int64_t min = 1) {
    return static_cast<std::uint64_t>(whole(object, key, min));
}

const std::string& text(const Json& object, const char* key) {
    return object.at(key).get_ref<const std::string&>();
}

// These functions return a default value for a missing member.

std::int64_t whole_or_0(const Json& object, const char* key) {
    return object.contains(key) ? whole(object, key) : 0;
}

std::string text_or_empty(const Json& object, const char* key) {
    return object.contains(key) ? text(object, key) : "";
}

const Json& list(const Json& object, const char* key) {
    static const Json none = Json::array();
    const Json& found = object.contains(key) ? object[key] : none;
    return found.is_array() ? found : throw Malformed();
}

Value read_value(const Json& value) {
    Value read;
    if (value.is_string()) {
        read.type = ValueType::text;
        read.text = value.get_ref<const std::string&>();
    } else if (value.is_boolean()) {
        read.type = ValueType::boolean;
        read.boolean = value.get<bool>();
    } else if (value.is_number_integer() &&
               !(value.is_number_unsigned() && value.get<std::uint64_t>() > seq_max * 2 - 1)) {
        read.type = ValueType::integer;
        read.integer = value.get<std::int64_t>();
    } else if (value.is_number()) {
        read.type = ValueType::real;
        read.real = value.get<double>();
    } else if (!value.is_null()) {
        throw Malformed();
    }
    return read;
}

Quality read_quality(std::string_view word) {
    for (const Quality each : {Quality::good, Quality::uncertain, Quality::bad, Quality::stale}) {
        if (word == to_string(each)) {
            return each;
        }
    }
    throw Malformed();
}

/// Texts of the sample point into the object.
Sample read_sample(const Json& object) {
    Sample sample;
    sample.epoch = whole(object, "epoch");
    sample.seq = seq(object, "seq");
    sample.value = read_value(object.at("value"));
    sample.unit = text(object, "unit");
    sample.quality = read_quality(text(object, "quality"));
    if (!parse_sample_time(text(object, "time"), sample.time_utc_ns)) {
        throw Malformed();
    }
    return sample;
}

/// Removes the samples that scan_sample() can read from the front of the array, so that only the rest has to be parsed.
std::string scan_samples(std::string_view frame, Answer& answer) {
    // Inside a string these quotes would be escaped, so this is the key.
    constexpr std::string_view key = R"("samples":[)";
    const std::size_t at = frame.find(key);
    if (at == std::string_view::npos) {
        return std::string(frame);
    }
    std::string_view rest = frame.substr(at + key.size());
    ScannedSample scanned;
    std::string topic;
    while (scan_sample(rest, scanned)) {
        topic.assign(scanned.device).append("/").append(scanned.channel);
        scanned.sample.topic = *answer.texts.insert(topic).first;
        answer.samples.push_back(scanned.sample);
        if (!rest.starts_with(",{")) {
            break;
        }
        rest.remove_prefix(1);
    }
    return std::string(frame.substr(0, at + key.size())).append(rest);
}

void read_answer_sample(const Json& object, Answer& answer) {
    Sample sample = read_sample(object);
    sample.topic = *answer.texts.insert(text(object, "device") + '/' + text(object, "channel")).first;
    sample.unit = *answer.texts.emplace(sample.unit).first;
    sample.value.text = *answer.texts.emplace(sample.value.text).first;
    answer.samples.push_back(sample);
}

void read_gone(const Json& object, Answer& answer) {
    Gap gap;
    gap.first_seq = seq(object, "first_seq");
    gap.last_seq = seq(object, "last_seq", static_cast<std::int64_t>(gap.first_seq));
    gap.reason = parse_reason(text(object, "reason"));
    gap.topic = *answer.texts.insert(text(object, "topic")).first;
    answer.gone.push_back(gap);
}

void read_error(const Json& object, Answer& answer) {
    constexpr std::int64_t retry_after_max = 3'600'000;
    const std::int64_t retry_after = std::clamp<std::int64_t>(whole_or_0(object, "retry_after_ms"), 0, retry_after_max);
    answer.error = AnswerError{text(object, "code"), text_or_empty(object, "detail"),
                               std::chrono::milliseconds(retry_after), text_or_empty(object, "pointer")};
}

void read_answer(const Json& object, Answer& answer) {
    answer.after = text_or_empty(object, "after");
    answer.is_end = object.value("end", false);
    answer.is_end_known = object.value("end_known", true);
    answer.samples_epoch = whole_or_0(object, "samples_epoch");
    answer.next_epoch = whole_or_0(object, "next_epoch");
    if (object.contains("position")) {
        answer.position = seq(object, "position", 0);
    }
    if (object.contains("error")) {
        read_error(object["error"], answer);
    }
    for (const Json& each : list(object, "samples")) {
        read_answer_sample(each, answer);
    }
    for (const Json& each : list(object, "gone")) {
        read_gone(each, answer);
    }
    for (const Json& each : list(object, "left")) {
        answer.left.push_back(text(each, "topic"));
    }
    for (const Json& each : list(object, "channels")) {
        answer.past.push_back({text(each, "topic"), seq(each, "last_seq", 0)});
    }
}

}  // namespace

bool is_shallow_cbor(std::string_view payload) {
    Depth depth;
    return Json::sax_parse(payload, &depth, Json::input_format_t::cbor);
}

bool parse_any_sample(PayloadFormat format, std::string_view payload, Sample& sample, SampleTexts& texts) {
    const bool is_json = format == PayloadFormat::json;
    return payload.size() <= payload_bytes_max && (is_json || is_shallow_cbor(payload)) && is_well_formed([&] {
               const Json object = is_json ? Json::parse(payload) : Json::from_cbor(payload);
               sample = read_sample(object);
               texts = {std::string(sample.value.text), std::string(sample.unit)};
               sample.value.text = texts.value;
               sample.unit = texts.unit;
           });
}

bool parse_answer(std::string_view frame, Answer& answer, std::string& what) {
    what = "not a JSON object";
    const bool is_read = is_well_formed([&] {
        const Json object = Json::parse(scan_samples(frame, answer));
        what = object.is_object() ? "missing id or epoch" : what;
        answer.id = seq(object, "id", 0);
        answer.epoch = whole(object, "epoch");
        what = "malformed samples, gone, left, channels or error";
        read_answer(object, answer);
    });
    what = is_read ? "" : what;
    return is_read;
}

}  // namespace telegate::tail
