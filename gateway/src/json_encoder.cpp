#include "json_encoder.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>

namespace telegate {
namespace {

constexpr std::size_t number_bytes_max = 32;  // the longest double is 24, the longest integer 20
constexpr std::size_t escape_bytes_max = 6;   // \u001f
constexpr std::size_t time_bytes = 30;        // 2026-11-20T23:11:34.123456789Z
constexpr std::string_view time_key = ",\"time\":\"";
constexpr std::string_view value_key = "\",\"value\":";
constexpr std::string_view closing = "\"}";
constexpr std::size_t quality_bytes_max = 9;

char* put(char* out, std::string_view text) noexcept {
    std::memcpy(out, text.data(), text.size());
    return out + text.size();
}

template <class Number>
char* put_number(char* out, Number number) noexcept {
    return std::to_chars(out, out + number_bytes_max, number).ptr;
}

/// Two or more decimal digits with leading zeros.
char* put_digits(char* out, unsigned value, int digits) noexcept {
    for (int i = digits - 1; i >= 0; --i) {
        out[i] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
    return out + digits;
}

/// Bytes of the well-formed UTF-8 sequence at the start of `text` (RFC 3629: no overlong forms, no surrogates), or 0.
std::size_t utf8_bytes(std::string_view text) noexcept {
    const auto byte = [text](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto follows = [&byte](std::size_t i) {
        return (byte(i) & 0xC0U) == 0x80U;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80U) {
        return 1;
    }
    if (lead >= 0xC2U && lead <= 0xDFU) {
        return follows(1) ? 2 : 0;
    }
    if (lead >= 0xE0U && lead <= 0xEFU) {
        const bool sound = (lead != 0xE0U || byte(1) >= 0xA0U) && (lead != 0xEDU || byte(1) < 0xA0U);
        return sound && follows(1) && follows(2) ? 3 : 0;
    }
    if (lead >= 0xF0U && lead <= 0xF4U) {
        const bool sound = (lead != 0xF0U || byte(1) >= 0x90U) && (lead != 0xF4U || byte(1) < 0x90U);
        return sound && follows(1) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
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

/// Room needed: 2 + escape_bytes_max * text.size().
char* put_string(char* out, std::string_view text) noexcept {
    *out++ = '"';
    while (!text.empty()) {
        const std::size_t bytes = utf8_bytes(text);
        if (bytes == 0) {
            out = put(out, "\xEF\xBF\xBD");
            text.remove_prefix(1);
            continue;
        }
        const char c = text.front();
        if (bytes == 1 && (static_cast<unsigned char>(c) < 0x20U || c == '"' || c == '\\')) {
            out = put_escaped(out, c);
        } else {
            out = put(out, text.substr(0, bytes));
        }
        text.remove_prefix(bytes);
    }
    *out++ = '"';
    return out;
}

char* put_value(char* out, const TelemetrySample& sample) noexcept {
    switch (sample.type) {
        case ValueType::none: break;
        case ValueType::real:
            if (sample.value.real == 0.0 && std::signbit(sample.value.real)) {
                return put(out, "-0.0");  // readers take "-0" for a whole number and lose the sign
            }
            if (std::isfinite(sample.value.real)) {
                return put_number(out, sample.value.real);
            }
            break;
        case ValueType::integer: return put_number(out, sample.value.integer);
        case ValueType::boolean: return put(out, sample.value.boolean ? "true" : "false");
        case ValueType::text: return put_string(out, sample.text());
    }
    return put(out, "null");
}

void append_json_string(std::string& out, std::string_view text) {
    const std::size_t before = out.size();
    out.resize(before + 2 + escape_bytes_max * text.size());
    const char* end = put_string(out.data() + before, text);
    out.resize(static_cast<std::size_t>(end - out.data()));
}

}  // namespace

JsonEncoder::JsonEncoder(const ChannelTable& channels, std::int64_t epoch_ms)
    : channels_(channels), epoch_(std::to_string(epoch_ms)) {}

const JsonEncoder::Frame& JsonEncoder::frame_of(ChannelId channel) {
    const std::size_t index = to_index(channel);
    if (index >= frames_.size()) {
        frames_.resize(channels_.size());
    }
    Frame& frame = frames_[index];
    if (frame.before.empty()) {
        const ChannelInfo& info = channels_.at(channel);
        frame.before = "{\"device\":";
        append_json_string(frame.before, info.device);
        frame.before += ",\"channel\":";
        append_json_string(frame.before, info.channel);
        frame.before += ",\"epoch\":" + epoch_ + ",\"seq\":";
        frame.after = ",\"unit\":";
        append_json_string(frame.after, info.unit);
        frame.after += ",\"quality\":\"";
    }
    return frame;
}

std::size_t JsonEncoder::bytes_max(const TelemetrySample& sample) {
    const Frame& frame = frame_of(sample.channel);
    const std::size_t value =
        sample.type == ValueType::text ? 2 + escape_bytes_max * sample.text_bytes : number_bytes_max;
    return frame.before.size() + number_bytes_max + time_key.size() + time_bytes + value_key.size() + value +
           frame.after.size() + quality_bytes_max + closing.size();
}

std::size_t JsonEncoder::encode(const TelemetrySample& sample, char* out) {
    const Frame& frame = frame_of(sample.channel);
    char* end = put(out, frame.before);
    end = put_number(end, sample.seq);
    end = put(end, time_key);
    end = write_time(end, sample.time_utc_ns);
    end = put(end, value_key);
    end = put_value(end, sample);
    end = put(end, frame.after);
    const bool finite = sample.type != ValueType::real || std::isfinite(sample.value.real);
    end = put(end, to_string(finite ? sample.quality : Quality::bad));
    end = put(end, closing);
    return static_cast<std::size_t>(end - out);
}

char* JsonEncoder::write_time(char* out, std::int64_t utc_ns) {
    using namespace std::chrono;
    const sys_time<nanoseconds> time{nanoseconds(utc_ns)};
    const auto second = floor<seconds>(time);
    if (second.time_since_epoch().count() != second_) {
        second_ = second.time_since_epoch().count();
        const auto day = floor<days>(second);
        const year_month_day date(day);
        const hh_mm_ss clock(second - day);
        char* text = second_text_.data();
        text = put_digits(text, static_cast<unsigned>(static_cast<int>(date.year())), 4);
        *text++ = '-';
        text = put_digits(text, static_cast<unsigned>(date.month()), 2);
        *text++ = '-';
        text = put_digits(text, static_cast<unsigned>(date.day()), 2);
        *text++ = 'T';
        text = put_digits(text, static_cast<unsigned>(clock.hours().count()), 2);
        *text++ = ':';
        text = put_digits(text, static_cast<unsigned>(clock.minutes().count()), 2);
        *text++ = ':';
        text = put_digits(text, static_cast<unsigned>(clock.seconds().count()), 2);
        *text = '.';
    }
    out = put(out, {second_text_.data(), second_text_.size()});
    out = put_digits(out, static_cast<unsigned>((time - second).count()), 9);
    *out++ = 'Z';
    return out;
}

}  // namespace telegate
