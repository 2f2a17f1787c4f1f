#include "encode/json_encoder.hpp"

#include "base/json_excerpt.hpp"
#include "base/json_object.hpp"
#include "core/utf8.hpp"
#include "encode/digits.hpp"
#include "encode/sample_members.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

namespace telegate {
namespace {

constexpr std::size_t real_bytes_max = 32;  // the longest is 24

/// Indexed by Quality: the text after `"quality":"`.
constexpr std::array json_endings{ShortText("good\"}"), ShortText("uncertain\"}"), ShortText("bad\"}"),
                                  ShortText("stale\"}")};

constexpr ConstantText json_doubt_text = ConstantText()
                                             .add(",\"")
                                             .add(sample_member::time_quality.name)
                                             .add("\":\"unsynchronized\",\"")
                                             .add(sample_member::mono_ns.name)
                                             .add("\":");
/// Replaces the closing brace.
constexpr std::string_view json_doubt = json_doubt_text.text();
static_assert(json_doubt.size() + whole_bytes_max + 2 <= JsonEncoder::doubt_bytes_max);

char* put(char* out, std::string_view text) noexcept {
    std::memcpy(out, text.data(), text.size());
    return out + text.size();
}

char* put_integer(char* out, std::int64_t number) noexcept {
    const auto bits = static_cast<std::uint64_t>(number);
    if (number < 0) {
        *out++ = '-';
    }
    return put_whole(out, number < 0 ? 0 - bits : bits);
}

char* put_shortest(char* out, double number) noexcept {
    return std::to_chars(out, out + real_bytes_max, number).ptr;
}

/// Writes three decimals without trailing zeros; `thousandths` is 1 to 999.
char* put_decimals(char* out, unsigned thousandths) noexcept {
    *out++ = static_cast<char>('0' + thousandths / 100);
    put_two_digits(out, thousandths % 100);
    return out + (thousandths % 10 != 0 ? 2 : thousandths % 100 != 0 ? 1 : 0);
}

/// Writes the same bytes as put_shortest() in a third of the time, for a value with up to three decimals; returns null
/// for any other.
///
/// If a value is the double nearest to n/1000, that decimal is its shortest text: n has at most 15 digits, and no two
/// numbers of 15 digits have the same nearest double. Both n and 1000 are exact, so the division finds the nearest
/// double. A text with an exponent can be shorter only for a whole number that ends in five zeros.
char* put_few_decimals(char* out, double value) noexcept {
    constexpr double magnitude_max = 1e12;
    constexpr double half = 0.5;  // if the sum rounds to the wrong side, the division below detects it
    const double magnitude = std::abs(value);
    if (!(magnitude < magnitude_max)) {
        return nullptr;
    }
    const auto thousandths = static_cast<std::int64_t>(magnitude * 1000.0 + half);
    if (static_cast<double>(thousandths) / 1000.0 != magnitude) {
        return nullptr;
    }
    const auto whole = static_cast<std::uint64_t>(thousandths) / 1000;
    const auto decimals = static_cast<unsigned>(static_cast<std::uint64_t>(thousandths) % 1000);
    if (decimals == 0 && whole % 100'000 == 0 && whole != 0) {
        return nullptr;
    }
    if (value < 0) {
        *out++ = '-';
    }
    out = put_whole(out, whole);
    if (decimals == 0) {
        return out;
    }
    *out++ = '.';
    return put_decimals(out, decimals);
}

/// `value` is finite.
char* put_real(char* out, double value) noexcept {
    if (value == 0.0 && std::signbit(value)) {
        return put(out, "-0.0");  // parsers read "-0" as an integer and lose the sign
    }
    char* const end = put_few_decimals(out, value);
    return end != nullptr ? end : put_shortest(out, value);
}

char* put_escaped(char* out, char c) noexcept {
    constexpr std::string_view hex = "0123456789abcdef";
    switch (c) {
        case '"': return put(out, "\\\"");
        case '\\': return put(out, "\\\\");
        case '\n': return put(out, "\\n");
        case '\r': return put(out, "\\r");
        case '\t': return put(out, "\\t");
        default: break;
    }
    const auto code = static_cast<unsigned char>(c);
    out = put(out, "\\u00");
    *out++ = hex[code >> 4U];
    *out++ = hex[code & 0xFU];
    return out;
}

/// Buffer size: 2 + JsonEncoder::escape_bytes_max * text.size().
char* put_string(char* out, std::string_view text) noexcept {
    *out++ = '"';
    while (!text.empty()) {
        const char c = text.front();
        const auto code = static_cast<unsigned char>(c);
        std::size_t bytes = 1;
        if (code >= 0x80U) {
            bytes = utf8_bytes(text);
            out = put(out, bytes > 0 ? text.substr(0, bytes) : replacement_character);
        } else if (code < 0x20U || c == '"' || c == '\\') {
            out = put_escaped(out, c);
        } else {
            *out++ = c;
        }
        text.remove_prefix(bytes > 0 ? bytes : 1);
    }
    *out++ = '"';
    return out;
}

char* put_json_value(char* out, const TelemetrySample& sample) noexcept {
    switch (sample.type) {
        case ValueType::none: break;
        case ValueType::real:
            if (std::isfinite(sample.value.real)) {
                return put_real(out, sample.value.real);
            }
            break;
        case ValueType::integer: return put_integer(out, sample.value.integer);
        case ValueType::boolean: return put(out, sample.value.boolean ? "true" : "false");
        case ValueType::text: return put_string(out, sample.text());
    }
    return put(out, "null");
}

std::string json_string(std::string_view text) {
    std::string string(2 + JsonEncoder::escape_bytes_max * text.size(), '\0');
    string.resize(static_cast<std::size_t>(put_string(string.data(), text) - string.data()));
    return string;
}

/// Returns `"name":`.
std::string json_key(const sample_member::Member& member) {
    return '"' + std::string(member.name) + "\":";
}

}  // namespace

JsonEncoder::JsonEncoder(const ChannelTable& channels, std::int64_t epoch_ms, SharedLabels labels)
    : epoch_(std::to_string(epoch_ms)),
      labels_(std::move(labels)),
      frames_(channels),
      time_(',' + json_key(sample_member::time) + '"', "\"," + json_key(sample_member::value)) {}

JsonEncoder::Frame JsonEncoder::make_frame(const ChannelInfo& info) const {
    Frame frame{StepText('{' + json_key(sample_member::device) + json_string(info.device) + ',' +
                         json_key(sample_member::channel) + json_string(info.channel) + ',' +
                         json_key(sample_member::epoch) + epoch_ + ',' + json_key(sample_member::seq)),
                StepText(',' + json_key(sample_member::unit) + json_string(info.unit) +
                         json_tags_member(tags_of(labels_, info)) + ',' + json_key(sample_member::quality) + '"'),
                0};
    // Later members overwrite the excess bytes of each copy step, except those of the last step.
    frame.bytes_max = frame.before.size() + whole_bytes_max + time_.size() + real_bytes_max + frame.after.size() +
                      StepText::step_bytes;
    return frame;
}

void JsonEncoder::set_labels(SharedLabels labels) {
    labels_ = std::move(labels);
    frames_.clear();
}

std::size_t JsonEncoder::encode(const TelemetrySample& sample, char* out) {
    const Frame& frame = frame_of(sample.channel);
    char* end = frame.before.put(out);
    end = put_whole(end, sample.seq);
    end = time_.put(end, sample.time_utc_ns);
    end = put_json_value(end, sample);
    end = frame.after.put(end);
    end = json_endings[static_cast<std::size_t>(quality_of(sample))].put(end);
    if (has_doubtful_time(sample)) {
        end = put_integer(put(end - 1, json_doubt), sample.time_mono_ns);
        *end++ = '}';
    }
    return static_cast<std::size_t>(end - out);
}

std::string json_tags(const Tags& tags) {
    std::string members;
    for (const Tag& tag : tags) {
        members += (members.empty() ? "" : ",") + json_text(tag.name) + ':' + json_text(tag.value);
    }
    return '{' + members + '}';
}

std::string json_tags_member(const Tags& tags) {
    return tags.empty() ? "" : ',' + json_key(sample_member::tags) + json_tags(tags);
}

void SampleText::append(std::string& out, const TelemetrySample& sample) {
    const std::lock_guard lock(mutex_);
    const std::size_t before = out.size();
    out.resize(before + encoder_.bytes_max(sample));
    out.resize(before + encoder_.encode(sample, out.data() + before));
}

void SampleText::set_labels(SharedLabels labels) {
    const std::lock_guard lock(mutex_);
    encoder_.set_labels(labels);
    labels_ = std::move(labels);
}

SharedLabels SampleText::labels() const {
    const std::lock_guard lock(mutex_);
    return labels_;
}

void describe_sample(JsonObject& out) {
    out.name_schema("Sample");
    for (const sample_member::Member& member : sample_member::all) {
        out.set_optional(!member.is_required);
        out.add_text(member.name, member.schema, nullptr);
    }
}

}  // namespace telegate
