// Needs: telegate_device

#include "metrics/given_time.hpp"
#include "metrics/influx.hpp"
#include "metrics/json_scan.hpp"
#include "metrics/line_intake.hpp"
#include "metrics/metric_sink.hpp"
#include "metrics/statsd.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace {

using namespace telegate;
using namespace telegate::metrics;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

bool is_within(std::string_view part, std::string_view whole) {
    return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

/// Every accepted metric has a name, and only numbers that are finite or bad.
void read_statsd(std::string_view text) {
    static StatsdLine line;
    if (!read_statsd_line(text, line)) {
        return;
    }
    require(!line.name.empty() && is_within(line.name, text));
    require(line.rate > 0 && line.rate <= 1);
    require(line.tag_count <= StatsdLine::tags_max);
    for (std::size_t tag = 0; tag < line.tag_count; ++tag) {
        require(!line.tags[tag].empty() && is_within(line.tags[tag], text));
        require(tag == 0 || line.tags[tag - 1] < line.tags[tag]);
    }
    std::string_view values = line.values;
    require(!values.empty());
    while (!values.empty()) {
        const auto value = next_statsd_value(values);
        require(value && (std::isfinite(value->number) || value->quality == Quality::bad));
    }
}

/// The lines of a datagram are parts of it, in order, and together with the line ends they are all of it.
void read_influx_lines(std::string_view text) {
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t before = rest.size();
        const std::string_view line = take_influx_line(rest);
        require(is_within(line, text) && rest.size() < before && before - rest.size() <= line.size() + 2);
    }
}

template <class Next>
std::size_t characters(std::string_view raw, Next next) {
    std::size_t count = 0;
    while (!raw.empty()) {
        (void)next(raw);
        ++count;
    }
    return count;
}

void read_influx(std::string_view text) {
    static InfluxLine line;
    if (!read_influx_line(text, line)) {
        return;
    }
    require(!line.measurement.empty() && is_within(line.measurement, text));
    require(line.tag_count <= InfluxLine::tags_max);
    for (std::size_t tag = 0; tag < line.tag_count; ++tag) {
        require(characters(line.tags[tag].key, next_influx_character) > 0);
        require(characters(line.tags[tag].value, next_influx_character) > 0);
        require(tag == 0 || line.tags[tag - 1].key < line.tags[tag].key);
    }
    std::string_view fields = line.fields;
    require(!fields.empty() && is_within(fields, text));
    while (!fields.empty()) {
        const auto field = next_influx_field(fields);
        require(field && !field->key.empty());
        if (const auto* const string = std::get_if<InfluxText>(&field->value)) {
            require(characters(string->raw, next_influx_text_character) <= string->raw.size());
        } else if (const auto* const number = std::get_if<TextNumber>(&field->value)) {
            require(std::isfinite(number->as_real()) || number->real_quality() == Quality::bad);
        }
    }
}

/// Reading ends at the nesting depth at which it began, and texts stay within their buffers.
void read_json(std::string_view text) {
    JsonScan scan(text);
    std::array<char, 24> room{};
    std::size_t events = 0;
    for (JsonEvent event = scan.next(); event != JsonEvent::end; event = scan.next()) {
        if (event == JsonEvent::fault) {
            require(scan.next() == JsonEvent::fault);
            return;
        }
        require(++events <= 2 * text.size());
        require(scan.depth() <= JsonScan::depth_max);
        if (event == JsonEvent::key || event == JsonEvent::text) {
            require(is_within(scan.raw(), text));
            const JsonText put = put_json_text(scan.raw(), room);
            require(put.text.size() <= room.size());
            (void)parse_iso_time(put.text);
        } else if (event == JsonEvent::whole) {
            (void)to_utc_ns(scan.whole(), TimePrecision::by_size);
        } else if (event == JsonEvent::real) {
            require(std::isfinite(scan.real()));
            (void)to_utc_ns(scan.real(), TimePrecision::by_size);
        }
    }
    require(scan.depth() == 0 && scan.next() == JsonEvent::end);
}

/// Every sample belongs to a channel of its own device and has a possible time; there are no more metrics than allowed.
template <class Intake>
void feed(std::string_view line, Intake intake) {
    constexpr std::size_t metrics_max = 8;
    static const SystemClock clock;
    static ChannelTable channels;
    static const MetricRules rules{
        .use_time = true, .time_precision = TimePrecision::by_size, .time_member = "at", .name_member = "name"};
    std::size_t samples = 0;
    SampleBatch batch(clock, channels, {DeviceId{0}, "d"}, [&](std::span<const TelemetrySample> more) {
        samples += more.size();
        for (const TelemetrySample& sample : more) {
            require(sample.time_utc_ns >= 946'684'800'000'000'000);
        }
    });
    batch.go_on_from({});
    MetricSink sink(metrics_max);
    const LineTarget target{batch, sink, rules, {clock.utc_now_ns(), 1}};
    const bool is_taken = intake.add_line(line, target);
    intake.finish(batch);
    batch.flush();
    require(is_taken || samples == 0);
    require(sink.size() <= metrics_max && batch.channels() <= 2 * metrics_max);
    (void)batch.retire();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const void* const bytes = data;
    std::string_view rest(static_cast<const char*>(bytes), size);
    (void)parse_iso_time(rest);
    read_influx_lines(rest);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string line(rest.substr(0, end));  // its own memory, so that a sanitizer detects overruns
        read_statsd(line);
        read_influx(line);
        read_json(line);
        feed(line, StatsdIntake(8));
        feed(line, InfluxIntake());
        feed(line, JsonIntake());
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return 0;
}
