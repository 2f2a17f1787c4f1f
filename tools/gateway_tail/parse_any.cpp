#include "parse_any.hpp"

#include "json_scan.hpp"
#include "time_words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

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

/// The decoder throws for an array that claims to be larger than memory, even when exceptions are turned off.
Json parse_cbor(std::string_view payload) {
    try {
        return is_shallow_cbor(payload) ? Json::from_cbor(payload, true, false) : Json();
    } catch (const Json::exception&) {
        return {};
    }
}

const Json* member(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

bool read_whole(const Json& object, const char* key, std::int64_t& value) {
    const Json* const found = member(object, key);
    if (found == nullptr || !found->is_number_integer() ||
        (found->is_number_unsigned() && found->get<std::uint64_t>() > seq_max)) {
        return false;
    }
    value = found->get<std::int64_t>();
    return true;
}

bool read_seq(const Json& object, const char* key, std::uint64_t& seq) {
    std::int64_t value = 0;
    if (!read_whole(object, key, value) || value < 1) {
        return false;
    }
    seq = static_cast<std::uint64_t>(value);
    return true;
}

bool read_text(const Json& object, const char* key, std::string& text) {
    const Json* const found = member(object, key);
    if (found == nullptr || !found->is_string()) {
        return false;
    }
    text = found->get_ref<const std::string&>();
    return true;
}

/// Leaves `flag` unchanged if the key is missing or not a boolean.
void read_flag(const Json& object, const char* key, bool& flag) {
    const Json* const found = member(object, key);
    flag = found != nullptr && found->is_boolean() ? found->get<bool>() : flag;
}

bool read_value(const Json& value, Value& into, std::string& text) {
    into = Value{};
    if (value.is_string()) {
        into.type = ValueType::text;
        text = value.get_ref<const std::string&>();
        into.text = text;
    } else if (value.is_boolean()) {
        into.type = ValueType::boolean;
        into.boolean = value.get<bool>();
    } else if (value.is_number_integer() &&
               !(value.is_number_unsigned() && value.get<std::uint64_t>() > seq_max * 2 - 1)) {
        into.type = ValueType::integer;
        into.integer = value.get<std::int64_t>();
    } else if (value.is_number()) {
        into.type = ValueType::real;
        into.real = value.get<double>();
    }
    return !value.is_structured();
}

bool read_quality(const Json& object, Quality& quality) {
    std::string text;
    if (!read_text(object, "quality", text)) {
        return false;
    }
    for (const Quality each : {Quality::good, Quality::uncertain, Quality::bad, Quality::stale}) {
        if (text == to_string(each)) {
            quality = each;
            return true;
        }
    }
    return false;
}

bool read_sample(const Json& object, Sample& sample, SampleTexts& texts) {
    std::string time;
    const Json* const value = member(object, "value");
    const bool reads = value != nullptr && read_value(*value, sample.value, texts.value) &&
                       read_whole(object, "epoch", sample.epoch) && read_seq(object, "seq", sample.seq) &&
                       read_text(object, "time", time) && parse_sample_time(time, sample.time_utc_ns) &&
                       read_text(object, "unit", texts.unit) && read_quality(object, sample.quality);
    sample.unit = texts.unit;
    return reads;
}

bool read_range(const Json& object, Gap& gap) {
    std::string reason;
    const bool reads = read_seq(object, "first_seq", gap.first_seq) && read_seq(object, "last_seq", gap.last_seq) &&
                       gap.first_seq <= gap.last_seq && read_text(object, "reason", reason);
    gap.reason = parse_reason(reason);
    return reads;
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

bool read_answer_sample(const Json& object, Answer& answer) {
    SampleTexts texts;
    Sample sample;
    std::string device;
    std::string channel;
    if (!read_sample(object, sample, texts) || !read_text(object, "device", device) ||
        !read_text(object, "channel", channel)) {
        return false;
    }
    sample.topic = *answer.texts.insert(device + '/' + channel).first;
    sample.unit = *answer.texts.insert(texts.unit).first;
    sample.value.text = *answer.texts.insert(texts.value).first;
    answer.samples.push_back(sample);
    return true;
}

bool read_gone(const Json& object, Answer& answer) {
    Gap gap;
    std::string topic;
    if (!read_range(object, gap) || !read_text(object, "topic", topic)) {
        return false;
    }
    gap.topic = *answer.texts.insert(std::move(topic)).first;
    answer.gone.push_back(gap);
    return true;
}

bool read_left(const Json& object, Answer& answer) {
    std::string topic;
    if (!read_text(object, "topic", topic)) {
        return false;
    }
    answer.left.push_back(std::move(topic));
    return true;
}

bool read_past(const Json& object, Answer& answer) {
    PastTopic past;
    std::int64_t last_seq = 0;
    if (!read_text(object, "topic", past.topic) || !read_whole(object, "last_seq", last_seq) || last_seq < 0) {
        return false;
    }
    past.last_seq = static_cast<std::uint64_t>(last_seq);
    answer.past.push_back(std::move(past));
    return true;
}

/// Reads a list of objects. It may be missing.
bool read_list(const Json& object, const char* key, bool (*read)(const Json&, Answer&), Answer& answer) {
    const Json* const list = member(object, key);
    return list == nullptr ||
           (list->is_array() && std::all_of(list->begin(), list->end(), [read, &answer](const Json& each) {
                return each.is_object() && read(each, answer);
            }));
}

bool read_error(const Json& error, Answer& answer) {
    AnswerError read;
    if (!error.is_object() || !read_text(error, "code", read.code)) {
        return false;
    }
    static_cast<void>(read_text(error, "detail", read.detail));
    static_cast<void>(read_text(error, "pointer", read.pointer));
    std::int64_t retry_after = 0;
    constexpr std::int64_t retry_after_max = 3'600'000;
    if (read_whole(error, "retry_after_ms", retry_after)) {
        read.retry_after = std::chrono::milliseconds(std::clamp<std::int64_t>(retry_after, 0, retry_after_max));
    }
    answer.error = std::move(read);
    return true;
}

bool read_answer(const Json& object, Answer& answer) {
    std::int64_t number = 0;
    if (read_whole(object, "position", number) && number >= 0) {
        answer.position = static_cast<std::uint64_t>(number);
    }
    static_cast<void>(read_text(object, "after", answer.after));
    read_flag(object, "end", answer.is_end);
    static_cast<void>(read_whole(object, "samples_epoch", answer.samples_epoch));
    static_cast<void>(read_whole(object, "next_epoch", answer.next_epoch));
    read_flag(object, "end_known", answer.is_end_known);
    const Json* const error = member(object, "error");
    return (error == nullptr || read_error(*error, answer)) &&
           read_list(object, "samples", read_answer_sample, answer) && read_list(object, "gone", read_gone, answer) &&
           read_list(object, "left", read_left, answer) && read_list(object, "channels", read_past, answer);
}

}  // namespace

bool is_shallow_cbor(std::string_view payload) {
    Depth depth;
    return Json::sax_parse(payload, &depth, Json::input_format_t::cbor);
}

bool parse_any_sample(PayloadFormat format, std::string_view payload, Sample& sample, SampleTexts& texts) {
    if (payload.size() > payload_bytes_max) {
        return false;
    }
    const Json object = format == PayloadFormat::json ? Json::parse(payload, nullptr, false) : parse_cbor(payload);
    return object.is_object() && read_sample(object, sample, texts);
}

bool parse_answer(std::string_view frame, Answer& answer, std::string& what) {
    const std::string rest = scan_samples(frame, answer);
    const Json object = Json::parse(rest, nullptr, false);
    std::int64_t id = 0;
    if (!object.is_object()) {
        what = "not a JSON object";
    } else if (!read_whole(object, "id", id) || id < 0 || !read_whole(object, "epoch", answer.epoch)) {
        what = "missing id or epoch";
    } else if (!read_answer(object, answer)) {
        what = "malformed samples, gone, left, channels or error";
    }
    answer.id = static_cast<std::uint64_t>(id);
    return what.empty();
}

}  // namespace telegate::tail
