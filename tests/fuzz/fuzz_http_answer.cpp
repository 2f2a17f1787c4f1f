// Needs: telegate_device

#include "http/answer_reader.hpp"
#include "http/http_request.hpp"
#include "http/json_pointers.hpp"
#include "http/metrics_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using namespace telegate;
using namespace telegate::http;

constexpr std::size_t channels_max = 8;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

HttpDriverOptions options_for(HttpFormat format, bool has_sources) {
    HttpDriverOptions options;
    options.format = format;
    options.channels_max = channels_max;
    if (has_sources && format == HttpFormat::json) {
        options.channels = {{"a", "", "/a"}, {"b", "", "/a/0/b"}, {"c", "", "/~0~1"}};
    } else if (has_sources) {
        options.channels = {{"a", "", "a"}, {"b", "", "a{b=\"c\"}"}, {"c", "", "{\"a\\n\",d=\"\"}"}};
    }
    return options;
}

/// There are no more channels than allowed, and every missing value has a reason.
void read_answer(std::string_view body, HttpFormat format, bool has_sources, bool is_openmetrics) {
    static const SystemClock clock;
    static ChannelTable channels;
    SampleBatch batch(clock, channels, {DeviceId{0}, "d"}, [](std::span<const TelemetrySample>) {});
    AnswerReader reader(options_for(format, has_sources));
    reader.open(batch);
    batch.go_on_from({});
    const std::string first = reader.read(body, is_openmetrics, batch);
    const bool has_values = reader.has_values();
    require(has_values || !first.empty() || format == HttpFormat::json);
    require(reader.read(body, is_openmetrics, batch) == first && reader.has_values() == has_values);
    batch.flush();
    require(batch.channels() <= 2 * channels_max + 1);
    (void)batch.retire();
}

/// A selector that was read selects a series that is written like it.
void read_selector(std::string_view text) {
    if (const auto selector = parse_selector(text)) {
        const std::string line = std::string(text) + " 1";
        const MetricsLine series = read_metrics_line(line);
        require(series.kind == MetricsLine::Kind::series);
        std::string_view labels = series.labels;
        std::size_t count = 0;
        while (next_label(labels)) {
            ++count;
        }
        require(labels.empty() && count == selector->labels.size());
    }
}

void read_url(std::string_view text) {
    try {
        const Url url = parse_url(text);
        require(url.target.starts_with('/') && !url.server.host.empty() && !url.server.port.empty());
        require(url.target.find_first_of("\r\n ") == std::string::npos);
    } catch (const std::invalid_argument&) {  // expected
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const void* const bytes = data;
    // its own memory, so that a sanitizer detects overruns
    const std::string body(static_cast<const char*>(bytes), size);
    for (const HttpFormat format : {HttpFormat::json, HttpFormat::prometheus}) {
        for (const bool has_sources : {false, true}) {
            read_answer(body, format, has_sources, size % 2 == 0);
        }
    }
    read_selector(body);
    read_url(body);
    return 0;
}
