#include "sample_lines.hpp"

#include "base/json_object.hpp"
#include "sample_text.hpp"
#include "time_words.hpp"

#include <algorithm>
#include <array>

namespace telegate::tail {
namespace {

constexpr std::size_t topic_width_max = 48;
constexpr std::size_t value_width = 16;
constexpr std::size_t unit_width = 5;
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view plain = "\x1b[0m";
// By quality: good, uncertain, bad, stale.
constexpr std::array<std::string_view, 4> quality_colors = {"\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[35m"};

}  // namespace

std::string_view SampleLines::head() const noexcept {
    return format_ == OutputFormat::csv ? "time,topic,epoch,seq,value,unit,quality\n" : "";
}

void SampleLines::append(std::string& out, const Sample& sample) {
    switch (format_) {
        case OutputFormat::text: append_text(out, sample); break;
        case OutputFormat::json: append_json(out, sample); break;
        case OutputFormat::csv: append_csv(out, sample); break;
        case OutputFormat::none: break;
    }
}

void SampleLines::make_room(std::string_view topic) noexcept {
    topic_width_ = std::max(topic_width_, std::min(topic.size(), topic_width_max));
}

void SampleLines::append_colored(std::string& out, std::string_view color, std::string_view text) const {
    if (is_colored_) {
        out.append(color).append(text).append(plain);
    } else {
        out += text;
    }
}

void SampleLines::append_text(std::string& out, const Sample& sample) {
    constexpr unsigned decimals = 3;
    std::string cell;
    append_time(cell, sample.time_utc_ns, decimals);
    append_colored(out, dim, cell);
    out += "  ";
    std::size_t begin = out.size();
    append_printable(out, sample.topic);
    topic_width_ = std::clamp(out.size() - begin, topic_width_, std::max(topic_width_, topic_width_max));
    pad(out, begin, topic_width_);
    cell.clear();
    std::string value;
    append_plain_value(value, sample.value);
    append_printable(cell, sample.value.type == ValueType::none ? "-" : value);
    append_right(out, cell, value_width);
    out += ' ';
    begin = out.size();
    append_printable(out, sample.unit);
    pad(out, begin, unit_width);
    out += ' ';
    append_colored(out, quality_colors[static_cast<std::size_t>(sample.quality)], to_string(sample.quality));
    out += '\n';
}

void SampleLines::append_json(std::string& out, const Sample& sample) {
    constexpr unsigned decimals = 9;
    const std::size_t slash = std::min(sample.topic.find('/'), sample.topic.size());
    out += R"({"device":)";
    append_quoted(out, sample.topic.substr(0, slash));
    out += R"(,"channel":)";
    append_quoted(out, sample.topic.substr(std::min(slash + 1, sample.topic.size())));
    out += R"(,"epoch":)" + std::to_string(sample.epoch) + R"(,"seq":)" + std::to_string(sample.seq) + R"(,"time":")";
    append_time(out, sample.time_utc_ns, decimals);
    out += R"(","value":)";
    append_json_value(out, sample.value);
    out += R"(,"unit":)";
    append_quoted(out, sample.unit);
    out += R"(,"quality":")";
    out += to_string(sample.quality);
    out += "\"}\n";
}

void SampleLines::append_csv(std::string& out, const Sample& sample) {
    constexpr unsigned decimals = 9;
    append_time(out, sample.time_utc_ns, decimals);
    out += ',';
    append_csv_text(out, sample.topic);
    out += ',' + std::to_string(sample.epoch) + ',' + std::to_string(sample.seq) + ',';
    std::string value;
    append_plain_value(value, sample.value);
    append_csv_text(out, value);
    out += ',';
    append_csv_text(out, sample.unit);
    out += ',';
    out += to_string(sample.quality);
    out += '\n';
}

}  // namespace telegate::tail
