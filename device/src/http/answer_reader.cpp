#include "http/answer_reader.hpp"
#include "device/option_error.hpp"

#include <algorithm>
#include <utility>

namespace telegate::http {
namespace {

using metrics::JsonEvent;

constexpr std::string_view refused_name = "fields.refused";
constexpr std::size_t shown_max = 40;  // bytes of a line in an error message

[[noreturn]] void refuse(const HttpChannel& channel, const std::string& what, const std::string& allowed) {
    throw OptionError("source", what + ": \"" + channel.source + "\"; must be " + allowed, channel.name);
}

}  // namespace

AnswerReader::AnswerReader(const HttpDriverOptions& options) : format_(options.format), sink_(options.channels_max) {
    std::vector<std::string> pointers;
    for (const HttpChannel& channel : options.channels) {
        const bool is_repeated = std::any_of(sources_.begin(), sources_.end(),
                                             [&](const Source& other) { return other.text == channel.source; });
        if (is_repeated) {
            refuse(channel, "duplicate source", "used by only one channel");
        }
        Source source{channel.name, channel.unit, channel.source, {}};
        if (format_ == HttpFormat::json) {
            if (!is_json_pointer(channel.source)) {
                refuse(channel, "not a JSON pointer", "/MEMBER/..., with ~1 for / and ~0 for ~");
            }
            pointers.push_back(channel.source);
        } else if (auto selector = parse_selector(channel.source)) {
            source.selector = *std::move(selector);
            sources_of_.emplace(source.selector.name, sources_.size());
        } else {
            refuse(channel, "not a metric", "NAME or NAME{LABEL=\"VALUE\",...}");
        }
        sources_.push_back(std::move(source));
    }
    if (!pointers.empty()) {
        pointers_.emplace(pointers);
    }
}

void AnswerReader::open(SampleBatch& batch) {
    for (Source& source : sources_) {
        source.channel = batch.add_channel(source.channel_name, source.unit);
    }
    if (sources_.empty()) {
        refused_ = batch.add_channel(refused_name, "1");
        sink_.reserve(refused_name);
    }
}

std::string AnswerReader::read(std::string_view body, bool is_openmetrics, SampleBatch& batch) {
    has_values_ = false;
    for (Source& source : sources_) {
        source.found = 0;
    }
    std::string fault =
        format_ == HttpFormat::json ? read_json(body, batch) : read_metrics(body, is_openmetrics, batch);
    if (has_values_ && sources_.empty()) {
        batch.add(refused_, sink_.left_out());
    }
    return fault;
}

std::string AnswerReader::read_json(std::string_view body, SampleBatch& batch) {
    if (!pointers_) {
        const ClockPair now = read_both(batch.clock());
        const MetricRules rules;
        has_values_ = intake_.add_line(body, {batch, sink_, rules, {now.utc_ns, now.mono_ns}});
        return has_values_ ? "" : "the response is not a JSON object or array, or nested too deeply";
    }
    const bool is_json = pointers_->read(body, [&](std::size_t index, const metrics::JsonScan& scan, JsonEvent event) {
        Source& source = sources_[index];
        if (is_value(event)) {  // not an object or array
            metrics::add_value(batch, source.channel, scan, event);
            source.found = 1;
            has_values_ = true;
        }
    });
    return is_json ? trouble_of_sources() : "the response is not JSON, or nested too deeply";
}

std::string AnswerReader::read_metrics(std::string_view body, bool is_openmetrics, SampleBatch& batch) {
    using Kind = MetricsLine::Kind;
    body = metrics::without_byte_order_mark(body);
    bool has_end = false;
    std::size_t number = 0;
    for (std::string_view rest = body; !rest.empty();) {
        const std::string_view line = metrics::take_line(rest);
        ++number;
        const Kind kind = has_end && !line.empty() ? Kind::fault : read_metrics_line(line).kind;
        if (kind == Kind::fault) {
            return "line " + std::to_string(number) + " is not a metric: \"" + std::string(line.substr(0, shown_max)) +
                   '"';
        }
        has_end = has_end || kind == Kind::end;
    }
    if (is_openmetrics && !has_end) {
        return "the response ends without # EOF";
    }
    for (std::string_view rest = body; !rest.empty();) {
        const MetricsLine series = read_metrics_line(metrics::take_line(rest));
        if (series.kind != Kind::series) {
            continue;
        }
        if (!sources_.empty()) {
            add(series);
            continue;
        }
        if (sink_.is_new(name_of(series))) {
            announce(series, rest);
        }
        add_by_name(series, batch);
    }
    if (sources_.empty()) {
        return has_values_ ? "" : "the response has no metrics";
    }
    for (const Source& source : sources_) {
        if (source.found == 1) {
            batch.add(source.channel, source.value, source.quality);
            has_values_ = true;
        }
    }
    return trouble_of_sources();
}

void AnswerReader::add(const MetricsLine& series) {
    std::string plain;
    if (series.name.find('\\') != std::string_view::npos) {
        for (std::string_view escaped = series.name; !escaped.empty();) {
            plain += next_label_character(escaped);
        }
    }
    const auto [begin, end] = sources_of_.equal_range(plain.empty() ? series.name : std::string_view(plain));
    for (auto each = begin; each != end; ++each) {
        Source& source = sources_[each->second];
        if (source.selector.selects(series)) {
            ++source.found;
            source.value = series.value;
            source.quality = series.quality;
        }
    }
}

/// Announces a series and those in the remaining lines.
void AnswerReader::announce(const MetricsLine& first, std::string_view rest) {
    sink_.announce(name_of(first));
    while (!rest.empty()) {
        const MetricsLine series = read_metrics_line(metrics::take_line(rest));
        if (series.kind == MetricsLine::Kind::series) {
            sink_.announce(name_of(series));
        }
    }
}

metrics::SeriesName AnswerReader::name_of(const MetricsLine& series) noexcept {
    const auto add = [this](std::string_view escaped) {
        while (!escaped.empty()) {
            name_.add(next_label_character(escaped));
        }
    };
    name_.clear();
    name_.begin_part();
    add(series.name);
    std::string_view labels = series.labels;
    while (const auto label = next_label(labels)) {
        name_.begin_part();
        add(label->value);
        name_.add_hidden(label->name);
    }
    return name_.series();
}

void AnswerReader::add_by_name(const MetricsLine& series, SampleBatch& batch) {
    has_values_ = true;
    if (const metrics::Metric* const metric = sink_.find_or_add(batch, name_of(series), "")) {
        batch.add(metric->channel, series.value, series.quality);
    }
}

/// Returns a text such as "2 of 5 sources have no value, first: /a/b".
std::string AnswerReader::trouble_of_sources() const {
    const auto lacks_value = [](const Source& source) {
        return source.found != 1;
    };
    const auto first = std::find_if(sources_.begin(), sources_.end(), lacks_value);
    if (first == sources_.end()) {
        return "";
    }
    const auto count = std::count_if(first, sources_.end(), lacks_value);
    const std::string several = first->found == 0 ? "" : " (" + std::to_string(first->found) + " series match)";
    return std::to_string(count) + " of " + std::to_string(sources_.size()) +
           " sources have no value, first: " + first->text + several;
}

}  // namespace telegate::http
