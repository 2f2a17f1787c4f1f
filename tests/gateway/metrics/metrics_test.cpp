#include "metrics/metrics_table.hpp"

#include "gateway/rest/rest_call.hpp"
#include "gateway/status/full_snapshot.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

std::string file_text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool has_line(const std::string& text, const std::string& line) {
    return text.starts_with(line + '\n') || text.find('\n' + line + '\n') != std::string::npos;
}

/// Returns the metric names in a text, both ours and those of the process.
std::set<std::string> names_in(const std::string& text) {
    std::set<std::string> names;
    const std::regex name(R"(\b(telegate|process)_[a-z_]+\b)");
    for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
        names.insert(at->str());
    }
    return names;
}

/// Returns the part before the value of each line about subscribers or publishers.
std::vector<std::string> series_of(const std::string& text) {
    std::vector<std::string> series;
    const std::regex line(R"((telegate_[a-z_]*(subscriber|publisher)[a-z_]*(\{[^\n]*\})?) )");
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
        series.push_back((*at)[1]);
    }
    return series;
}

std::set<std::string> names_of_table() {
    std::set<std::string> names;
    for (const MetricFamily& family : metrics_table()) {
        names.insert(family.metric.of_samples());
    }
    return names;
}

}  // namespace

TEST_CASE("metrics are named according to the Prometheus conventions", "[gateway][metrics]") {
    std::set<std::string_view> seen;
    for (const MetricFamily& family : metrics_table()) {
        const MetricName& metric = family.metric;
        CAPTURE(metric.name);
        CHECK(seen.insert(metric.name).second);
        CHECK((metric.name.starts_with("telegate_") || metric.name.starts_with("process_")));
        CHECK_FALSE((metric.name.ends_with("_total") || metric.name.ends_with("_info")));
        CHECK(metric.help.ends_with('.'));
    }
}

TEST_CASE("metrics show the values of the snapshot, in both formats", "[gateway][metrics]") {
    RestCaller call;
    DeviceStatus device;
    device.name = "host";
    device.state = DeviceState::safe;
    device.lateness_p99 = std::chrono::microseconds(250);
    device.filtered_by[static_cast<std::size_t>(FilterReason::deadband)] = 3;
    device.last_good_utc_ns = 1'700'000'000'500'000'000;
    device.outages = 4;
    device.samples_bad = 9;
    call.gateway.snapshot.channels_bad = {2};
    call.gateway.events.add({.device = "host", .kind = EventKind::device_failed});
    call.gateway.snapshot.devices = {device};
    DurableLogStatus& log = call.gateway.snapshot.log.emplace();
    log.lost = 2;
    log.error = "No space left on device";
    call.gateway.snapshot.ledger.resize(1);
    call.gateway.snapshot.ledger[0].sampled = 7;
    call.gateway.snapshot.ledger[0].dropped[0] = 7;
    const std::string text = call("GET", "/metrics").body;
    CHECK(has_line(text, "# TYPE telegate_samples_sampled_total counter"));
    CHECK(has_line(text, "telegate_samples_sampled_total{device=\"host\"} 7"));
    CHECK(has_line(text, "telegate_samples_dropped_total{device=\"host\",reason=\"queue_overflow\"} 7"));
    CHECK(has_line(text, "telegate_device_state{device=\"host\",state=\"safe\"} 1"));
    CHECK(has_line(text, "telegate_device_state{device=\"host\",state=\"idle\"} 0"));
    CHECK(has_line(text, "telegate_device_last_good_timestamp_seconds{device=\"host\"} 1700000000.5"));
    CHECK(has_line(text, "telegate_device_outages_total{device=\"host\"} 4"));
    CHECK(has_line(text, "telegate_device_samples_bad_total{device=\"host\"} 9"));
    CHECK(has_line(text, "telegate_device_channels_bad{device=\"host\"} 2"));
    CHECK(has_line(text, "telegate_device_stopped{device=\"host\"} 0"));
    CHECK(has_line(text, "telegate_events_total{outcome=\"added\"} 1"));
    CHECK(has_line(text, "telegate_device_lateness_seconds{device=\"host\",quantile=\"0.99\"} 0.00025"));
    CHECK(has_line(text, "telegate_device_filtered_total{device=\"host\",reason=\"deadband\"} 3"));
    CHECK(has_line(text, "telegate_log_dropped_total{reason=\"log_slow\"} 2"));
    CHECK(has_line(text, "telegate_log_ok 0"));
    CHECK(has_line(text, "telegate_ledger_balanced 1"));
    CHECK(has_line(text, "# TYPE telegate_build_info gauge"));
    call.fields["Accept"] = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
    const HttpResponse open = call("GET", "/metrics");
    CHECK(open.content_type == "application/openmetrics-text; version=1.0.0; charset=utf-8");
    CHECK(has_line(open.body, "# TYPE telegate_samples_sampled counter"));
    CHECK(has_line(open.body, "# UNIT telegate_device_lateness_seconds seconds"));
    CHECK(has_line(open.body, "# TYPE telegate_build info"));
    CHECK(open.body.ends_with("\n# EOF\n"));
}

TEST_CASE("every sample has the labels that the table lists", "[gateway][metrics]") {
    std::map<std::string, std::string> listed;
    for (const MetricFamily& family : metrics_table()) {
        listed[family.metric.of_samples()] = family.labels;
    }
    RestCaller call;
    call.gateway.snapshot = full_snapshot();
    call.gateway.snapshot.log.emplace();
    call.gateway.snapshot.uplinks.resize(1);
    call.gateway.snapshot.formats.resize(1);
    const std::string text = call("GET", "/metrics").body;
    const std::regex line(R"re(\n([a-z_]+)(?:\{([^\n]*)\})? )re");
    std::size_t samples = 0;
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at, ++samples) {
        CAPTURE((*at)[1].str());
        const std::string labels = std::regex_replace((*at)[2].str(), std::regex(R"re(="[^"]*"(,)?)re"), "$1 ");
        CHECK(listed[(*at)[1]] + (labels.empty() ? "" : " ") == labels);
    }
    CHECK(samples > 150);
}

TEST_CASE("tags are the labels of one metric, which is absent without tags", "[gateway][metrics]") {
    RestCaller call;
    CHECK(call("GET", "/metrics").body.find("telegate_tags") == std::string::npos);
    call.gateway.snapshot.labels = std::make_shared<const Labels>("plant-7", Tags{{"site", "north"}, {"line", "3"}});
    CHECK(has_line(call("GET", "/metrics").body, "telegate_gateway_info{gateway=\"plant-7\"} 1"));
    CHECK(has_line(call("GET", "/metrics").body, "telegate_tags_info{site=\"north\",line=\"3\"} 1"));
}

TEST_CASE("devices and channels with tags of their own have them as labels", "[gateway][metrics]") {
    RestCaller call;
    call.gateway.snapshot.labels = std::make_shared<const Labels>(
        parse_settings("[tags]\nsite = a\n[device \"host\"]\ndriver = host\ntags = line=3, device=x\n"
                       "[channel \"host/cpu\"]\ntags = line=4\n",
                       "t.ini"));
    const std::string text = call("GET", "/metrics").body;
    CHECK(has_line(text, R"(telegate_device_tags_info{device="host",site="a",line="3"} 1)"));
    CHECK(has_line(text, R"(telegate_channel_tags_info{device="host",channel="cpu",site="a",line="4"} 1)"));
}

TEST_CASE("the samples of a metric follow each other, whatever the order in which they are added",
          "[gateway][metrics]") {
    MetricText text;
    text.describe(gauge("telegate_none", "No samples."), {});
    for (const unsigned device : {1U, 2U}) {
        text.add(gauge("telegate_a", "A."), {}, device);
        text.add(gauge("telegate_b", "B."), {}, device);
    }
    CHECK(text.text(MetricFormat::prometheus) ==
          "# TYPE telegate_a gauge\n# HELP telegate_a A.\ntelegate_a 1\ntelegate_a 2\n"
          "# TYPE telegate_b gauge\n# HELP telegate_b B.\ntelegate_b 1\ntelegate_b 2\n");
}

TEST_CASE("label values may contain any bytes", "[gateway][metrics]") {
    MetricText text;
    text.add(gauge("telegate_x", "X."), {{"a", "q\"b\\n\nz\xff"}}, 1U);
    CHECK(has_line(text.text(MetricFormat::prometheus), "telegate_x{a=\"q\\\"b\\\\n\\nz\xEF\xBF\xBD\"} 1"));
}

TEST_CASE("numbers can be parsed back without loss", "[gateway][metrics]") {
    MetricText text;
    for (const double value : {0.1, std::nan(""), -HUGE_VAL}) {
        text.add(gauge("telegate_x", "X."), {}, value);
    }
    text.add(gauge("telegate_x", "X."), {}, UINT64_MAX);
    const std::string written = text.text(MetricFormat::prometheus);
    for (const char* line :
         {"telegate_x 0.1", "telegate_x NaN", "telegate_x -Inf", "telegate_x 18446744073709551615"}) {
        CHECK(has_line(written, line));
    }
}

TEST_CASE("the number of series does not grow with reconnecting subscribers", "[gateway][metrics]") {
    RestCaller call;
    StatusSnapshot& snapshot = call.gateway.snapshot;
    snapshot.endpoints = {{"tcp://127.0.0.1:1", PayloadFormat::json}, {"ipc:///x", PayloadFormat::record}};
    std::vector<std::string> before;
    for (std::size_t id = 1; id <= 3; ++id) {
        SubscriberStatus subscriber;
        subscriber.id = id;
        subscriber.endpoint = "tcp://127.0.0.1:1";
        subscriber.peer = "127.0.0.1:" + std::to_string(50'000 + id);
        snapshot.subscribers = {subscriber};
        const std::vector<std::string> now = series_of(call("GET", "/metrics").body);
        CHECK((before.empty() || now == before));
        before = now;
    }
}

TEST_CASE("subscribers are counted by endpoint, with the maximum backlog and idle time", "[gateway][metrics]") {
    RestCaller call;
    StatusSnapshot& snapshot = call.gateway.snapshot;
    snapshot.endpoints = {{"tcp://127.0.0.1:1", PayloadFormat::json}, {"ipc:///x", PayloadFormat::record}};
    for (std::size_t id = 1; id <= 3; ++id) {
        SubscriberStatus& subscriber = snapshot.subscribers.emplace_back();
        subscriber.endpoint = "tcp://127.0.0.1:1";
        subscriber.backlog_bytes = 10 * id;
        subscriber.silent = std::chrono::milliseconds(500 * id);
    }
    const std::string text = call("GET", "/metrics").body;
    const std::string first = R"({endpoint="tcp://127.0.0.1:1",format="json"} )";
    CHECK(has_line(text, "telegate_subscribers" + first + "3"));
    CHECK(has_line(text, R"(telegate_subscribers{endpoint="ipc:///x",format="record"} 0)"));
    CHECK(has_line(text, "telegate_subscribers_backlog_bytes" + first + "60"));
    CHECK(has_line(text, "telegate_subscriber_backlog_max_bytes" + first + "30"));
    CHECK(has_line(text, "telegate_subscriber_idle_max_seconds" + first + "1.5"));
}

TEST_CASE("the counters of publishers are separate for each format", "[gateway][metrics]") {
    RestCaller call;
    FormatTotals& totals = call.gateway.snapshot.formats.emplace_back();
    totals.format = PayloadFormat::cbor;
    totals.dropped = 7;
    CHECK(has_line(call("GET", "/metrics").body, R"(telegate_publisher_dropped_total{format="cbor"} 7)"));
}

TEST_CASE("channels show their last number, up to the first thousand channels", "[gateway][metrics]") {
    RestCaller call;
    TelemetrySample text_sample = numbered(ChannelId{0}, 1);
    text_sample.type = ValueType::text;
    call.gateway.snapshot.channels.push_back({"host/name", "", text_sample, {}});
    for (std::size_t i = 0; i < metric_channels_max + 5; ++i) {
        call.gateway.snapshot.channels.push_back(
            {"host/c" + std::to_string(i), "%", numbered(ChannelId{0}, i + 1), {}});
    }
    const std::string text = call("GET", "/metrics").body;
    CHECK(has_line(text, R"(telegate_channel_value{device="host",channel="c41",unit="%"} 42)"));
    CHECK(text.find("\"c1000\"") == std::string::npos);
    CHECK(text.find("\"name\"") == std::string::npos);
    CHECK(has_line(text, "telegate_channel_values_omitted 5"));
}

TEST_CASE("a failed reload is visible", "[gateway][metrics]") {
    FakeGateway gateway;
    HttpRequest request;
    request.method = "GET";
    request.path = request.target = "/metrics";
    CHECK(has_line(answer_rest(gateway.handlers(), request).body, "telegate_config_last_reload_successful 1"));
    gateway.snapshot.config.generation = 4;
    gateway.snapshot.config.last_reload = ReloadStatus{2'500'000'000, "anna", ReloadOutcome::invalid, 0, "reason", 1};
    const std::string text = answer_rest(gateway.handlers(), request).body;
    CHECK(has_line(text, "telegate_config_last_reload_successful 0"));
    CHECK(has_line(text, "telegate_config_last_reload_timestamp_seconds 2.5"));
    CHECK(has_line(text, "telegate_config_generation 4"));
}

TEST_CASE("the dashboard and the alerts use only existing metrics", "[gateway][metrics]") {
    const std::string file = GENERATE("grafana/telegate.json", "prometheus/telegate.rules.yml");
    CAPTURE(file);
    const std::string text = file_text(TELEGATE_SOURCE_DIR "/packaging/" + file);
    const std::set<std::string> used = names_in(text);
    const std::set<std::string> known = names_of_table();
    CHECK(used.size() > 5);
    for (const std::string& name : used) {
        CAPTURE(name);
        CHECK(known.contains(name));
    }
}

TEST_CASE("the dashboard is valid JSON whose panels have a title and a query", "[gateway][metrics]") {
    const auto dashboard = nlohmann::json::parse(file_text(TELEGATE_SOURCE_DIR "/packaging/grafana/telegate.json"));
    CHECK(dashboard["title"] == "Telegate");
    std::set<int> ids;
    for (const auto& panel : dashboard["panels"]) {
        CHECK(ids.insert(panel["id"].get<int>()).second);
        CHECK_FALSE(panel["title"].get<std::string>().empty());
        REQUIRE_FALSE(panel["targets"].empty());
        CHECK_FALSE(panel["targets"][0]["expr"].get<std::string>().empty());
    }
    CHECK(ids.size() >= 10);
}
