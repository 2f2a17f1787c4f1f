#include "influxdb/line_encoder.hpp"

#include "influxdb/point_template.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>

namespace telegate::uplink {
namespace {

constexpr std::size_t number_bytes_max = 32;                                           // the longest double has 24
constexpr std::size_t text_value_bytes_max = 2 * TelemetrySample::text_bytes_max + 2;  // all characters escaped
constexpr std::size_t rest_bytes_max = 96;  // tag or field of the quality, time, line feed

/// Writes to memory that is large enough.
class Writer {
  public:
    explicit Writer(char* to) noexcept : begin_(to), at_(to) {}

    void text(std::string_view text) noexcept {
        std::memcpy(at_, text.data(), text.size());
        at_ += text.size();
    }
    void character(char c) noexcept { *at_++ = c; }
    template <class Number>
    void number(Number number) noexcept {
        at_ = std::to_chars(at_, at_ + number_bytes_max, number).ptr;
    }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  private:
    char* const begin_;
    char* at_;
};

std::string_view name_of(Quality quality) noexcept {
    switch (quality) {
        case Quality::good: return "good";
        case Quality::uncertain: return "uncertain";
        case Quality::bad: return "bad";
        case Quality::stale: return "stale";
    }
    return "";
}

/// Returns a name with a backslash before each of `special`. Control characters would end the line. Servers differ in
/// how they read a backslash before such a character, another backslash or the end, so it becomes a slash.
std::string escaped(std::string_view name, std::string_view special) {
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = static_cast<unsigned char>(name[i]) < 0x20 ? ' ' : name[i];
        const bool is_last = i + 1 == name.size();
        if (c == '\\' && (is_last || name[i + 1] == '\\' || special.find(name[i + 1]) != std::string_view::npos ||
                          static_cast<unsigned char>(name[i + 1]) < 0x20)) {
            out += '/';
            continue;
        }
        if (special.find(c) != std::string_view::npos) {
            out += '\\';
        }
        out += c;
    }
    return out;
}

std::string measurement_text(std::string_view name) {
    std::string text = name.empty() ? "telegate" : escaped(name, ", ");
    if (text.front() == '#') {  // would be a comment
        text.front() = '_';
    }
    return text;
}

std::string key_text(std::string_view name) {
    return escaped(name, ",= ");
}

std::string field_text(std::string_view name) {
    return name.empty() ? "value" : name == "time" ? "time_" : key_text(name);
}

void write_string(Writer& line, std::string_view text) noexcept {
    line.character('"');
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            line.character('\\');
        }
        line.character(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
    }
    line.character('"');
}

}  // namespace

void LineEncoder::add_channel(const ChannelInfo& info, const EntryTags& tags) {
    const PointNames names{info.device, info.channel, gateway_, info.unit};
    const std::map<std::string_view, std::string_view> own{
        {"gateway", gateway_}, {"device", info.device}, {"channel", info.channel}, {"unit", info.unit}};
    std::map<std::string, std::string> chosen;  // sorted, as InfluxDB recommends
    for (const std::string& each : options_.tags) {
        const auto found = own.find(each);
        if (found != own.end()) {
            chosen[each] = found->second;
        }
        for (const auto& [name, value] : tags) {
            if (each == name || each == "*") {
                chosen[name] = value;
            }
        }
    }
    // Names that a point cannot have twice.
    chosen.erase("time");
    if (options_.quality == InfluxdbOptions::Quality::tag) {
        chosen.erase("quality");
    }
    const auto list = [](const std::map<std::string, std::string>& of) {
        std::string text;
        for (const auto& [name, value] : of) {
            if (!value.empty()) {
                text.append(",").append(key_text(name)).append("=").append(key_text(value));
            }
        }
        return text;
    };
    Channel& channel = channels_.emplace_back();
    channel.head = measurement_text(filled(options_.measurement, names)) + list(chosen);
    channel.field = ' ' + field_text(filled(options_.field, names)) + '=';
    chosen.erase("reason");
    chosen["channel"] = info.channel;
    chosen["device"] = info.device;
    channel.gap = measurement_text(options_.gaps) + list(chosen);
}

bool LineEncoder::has_value(const TelemetrySample& sample) const noexcept {
    switch (sample.type) {
        case ValueType::none: return false;
        case ValueType::real: return std::isfinite(sample.value.real);
        case ValueType::integer:
        case ValueType::boolean:
        case ValueType::text: return true;
    }
    return false;
}

std::size_t LineEncoder::bytes_max(const TelemetrySample& sample) const noexcept {
    const bool is_bad = options_.quality == InfluxdbOptions::Quality::skip_bad && sample.quality == Quality::bad;
    if (is_bad || (!has_value(sample) && options_.quality != InfluxdbOptions::Quality::field)) {
        return 0;
    }
    const Channel& channel = channels_[to_index(sample.channel)];
    return channel.head.size() + 2 * channel.field.size() + text_value_bytes_max + rest_bytes_max;
}

std::size_t LineEncoder::encode(const TelemetrySample& sample, char* to) noexcept {
    using Quality = InfluxdbOptions::Quality;
    const Channel& channel = channels_[to_index(sample.channel)];
    Writer line(to);
    line.text(channel.head);
    if (options_.quality == Quality::tag) {
        line.text(",quality=");
        line.text(name_of(sample.quality));
    }
    if (has_value(sample)) {
        line.text(channel.field);
        switch (sample.type) {
            case ValueType::real: line.number(sample.value.real); break;
            case ValueType::integer:
                line.number(sample.value.integer);
                if (options_.integers == InfluxdbOptions::Integers::integer) {
                    line.character('i');
                }
                break;
            case ValueType::boolean: line.text(sample.value.boolean ? "true" : "false"); break;
            case ValueType::text: write_string(line, sample.text()); break;
            case ValueType::none: break;
        }
    }
    if (options_.quality == Quality::field) {
        line.character(has_value(sample) ? ',' : ' ');
        line.text(std::string_view(channel.field).substr(1, channel.field.size() - 2));
        line.text("_quality=\"");
        line.text(name_of(sample.quality));
        line.character('"');
    }
    line.character(' ');
    line.number(sample.time_utc_ns);
    line.character('\n');
    return line.size();
}

void LineEncoder::append_gap(const Gap& gap, std::string& to) {
    if (options_.gaps.empty()) {
        return;
    }
    const auto number = [](std::uint64_t value) {
        return std::to_string(value) + 'i';
    };
    to.append(channels_[to_index(gap.channel)].gap).append(",reason=").append(gap.reason);
    to.append(" first_seq=").append(number(gap.first_seq)).append(",last_seq=").append(number(gap.last_seq));
    to.append(",missing=").append(number(gap.last_seq - gap.first_seq + 1));
    to.append(" ").append(std::to_string(gap.time_utc_ns)).append("\n");
}

}  // namespace telegate::uplink
