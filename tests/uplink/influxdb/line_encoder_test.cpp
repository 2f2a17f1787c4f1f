#include "influxdb/line_encoder.hpp"

#include "influxdb/point_template.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::uplink {
namespace {

ChannelInfo channel(std::string device, std::string name, std::string unit = "") {
    return {DeviceId{0}, std::move(device), std::move(name), std::move(unit), ""};
}

TelemetrySample sample_of(double value) {
    TelemetrySample sample{};
    sample.time_utc_ns = 5;
    sample.type = ValueType::real;
    sample.value.real = value;
    return sample;
}

TelemetrySample sample_of(std::int64_t value) {
    TelemetrySample sample = sample_of(0.0);
    sample.type = ValueType::integer;
    sample.value.integer = value;
    return sample;
}

TelemetrySample sample_of(std::string_view text) {
    TelemetrySample sample = sample_of(0.0);
    sample.type = ValueType::text;
    sample.text_bytes = static_cast<std::uint8_t>(text.size());
    std::copy(text.begin(), text.end(), sample.value.text);
    return sample;
}

TelemetrySample sample_without_value() {
    TelemetrySample sample = sample_of(0.0);
    sample.type = ValueType::none;
    sample.quality = Quality::bad;
    return sample;
}

/// Returns the line of a sample without its line feed; "": it is omitted.
std::string line(LineEncoder& encoder, const TelemetrySample& sample) {
    std::string out(encoder.bytes_max(sample), '\0');
    if (out.empty()) {
        return "";
    }
    const std::size_t bytes = encoder.encode(sample, out.data());
    CHECK(bytes <= out.size());
    REQUIRE(out[bytes - 1] == '\n');
    return out.substr(0, bytes - 1);
}

/// Returns the line of a sample of the channel boiler/level.
std::string line(const InfluxdbOptions& options, const TelemetrySample& sample, const EntryTags& tags = {}) {
    LineEncoder encoder(options, "gw");
    encoder.add_channel(channel("boiler", "level", "m"), tags);
    return line(encoder, sample);
}

}  // namespace

TEST_CASE("a sample is a point of its device with a field for its channel", "[uplink][influxdb]") {
    CHECK(line({}, sample_of(4.25)) == "boiler,gateway=gw level=4.25 5");
    CHECK(line({}, sample_of(std::int64_t{-7})) == "boiler,gateway=gw level=-7 5");
    CHECK(line({}, sample_of(std::string_view("a \"b\\\n"))) == "boiler,gateway=gw level=\"a \\\"b\\\\ \" 5");
    TelemetrySample boolean = sample_of(0.0);
    boolean.type = ValueType::boolean;
    boolean.value.boolean = true;
    CHECK(line({}, boolean) == "boiler,gateway=gw level=true 5");
}

TEST_CASE("integers are real by default, so that a channel may have both", "[uplink][influxdb]") {
    InfluxdbOptions options;
    options.integers = InfluxdbOptions::Integers::integer;
    CHECK(line(options, sample_of(std::int64_t{7})) == "boiler,gateway=gw level=7i 5");
    CHECK(line({}, sample_of(std::numeric_limits<std::int64_t>::min())) ==
          "boiler,gateway=gw level=-9223372036854775808 5");
}

TEST_CASE("the longest values fit into the requested memory", "[uplink][influxdb]") {
    InfluxdbOptions options;
    options.quality = GENERATE(InfluxdbOptions::Quality::field, InfluxdbOptions::Quality::tag);
    TelemetrySample sample =
        GENERATE(sample_of(-2.2250738585072014e-308), sample_of(-1.7976931348623157e308),
                 sample_of(std::string_view("\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"")));
    sample.time_utc_ns = std::numeric_limits<std::int64_t>::min();
    sample.quality = Quality::uncertain;
    CHECK(!line(options, sample).empty());
}

TEST_CASE("values that a point cannot have are omitted", "[uplink][influxdb]") {
    const TelemetrySample sample = GENERATE(sample_without_value(), sample_of(std::nan("")), sample_of(HUGE_VAL));
    InfluxdbOptions options;
    options.quality = GENERATE(InfluxdbOptions::Quality::skip_bad, InfluxdbOptions::Quality::tag);
    CHECK(line(options, sample).empty());
}

TEST_CASE("the quality is omitted, a tag or a field", "[uplink][influxdb]") {
    InfluxdbOptions options;
    TelemetrySample sample = sample_of(1.5);
    sample.quality = Quality::bad;
    CHECK(line(options, sample).empty());
    options.quality = InfluxdbOptions::Quality::tag;
    CHECK(line(options, sample) == "boiler,gateway=gw,quality=bad level=1.5 5");
    options.quality = InfluxdbOptions::Quality::field;
    CHECK(line(options, sample) == "boiler,gateway=gw level=1.5,level_quality=\"bad\" 5");
    sample.type = ValueType::none;
    CHECK(line(options, sample) == "boiler,gateway=gw level_quality=\"bad\" 5");
}

TEST_CASE("tags are chosen by name and sorted, and empty ones are omitted", "[uplink][influxdb]") {
    InfluxdbOptions options;
    const EntryTags tags{{"site", "north, hall=1"}, {"line", "3"}, {"empty", ""}};
    CHECK(line(options, sample_of(1.5), tags) == "boiler,gateway=gw,line=3,site=north\\,\\ hall\\=1 level=1.5 5");
    options.tags = {"unit", "site", "channel", "device"};
    CHECK(line(options, sample_of(1.5), tags) ==
          "boiler,channel=level,device=boiler,site=north\\,\\ hall\\=1,unit=m level=1.5 5");
    options.tags = {};
    CHECK(line(options, sample_of(1.5), tags) == "boiler level=1.5 5");
}

TEST_CASE("names that end with a backslash or have control characters end nothing", "[uplink][influxdb]") {
    InfluxdbOptions options;
    options.tags = {"*"};
    CHECK(line(options, sample_of(1.5), {{"a", "c:\\"}, {"b", "x\ny\\,z"}}) == "boiler,a=c:/,b=x\\ y/\\,z level=1.5 5");
}

TEST_CASE("measurement and field are templates", "[uplink][influxdb]") {
    InfluxdbOptions options;
    options.measurement = "{gateway} {device}.{channel}";
    options.field = "value_{unit}";
    CHECK(line(options, sample_of(1.5)) == "gw\\ boiler.level,gateway=gw value_m=1.5 5");
    CHECK(unknown_word("{device}.{channel}").empty());
    CHECK(unknown_word("a{topic}b") == "{topic}");
    CHECK(unknown_word("a}b") == "}");
    CHECK(unknown_word("{device") == "{device");
}

TEST_CASE("a gap is a point of its own measurement, or omitted", "[uplink][influxdb]") {
    InfluxdbOptions options;
    std::string text;
    const EntryEncoder::Gap gap{ChannelId{0}, 97, 193, "retention", 5};
    {
        LineEncoder encoder(options, "gw");
        encoder.add_channel(channel("boiler", "level"), {});
        encoder.append_gap(gap, text);
    }
    CHECK(text ==
          "telegate_gaps,channel=level,device=boiler,gateway=gw,reason=retention "
          "first_seq=97i,last_seq=193i,missing=97i 5\n");
    options.gaps = "";
    LineEncoder encoder(options, "gw");
    encoder.add_channel(channel("boiler", "level"), {});
    std::string nothing;
    encoder.append_gap(gap, nothing);
    CHECK(nothing.empty());
}

TEST_CASE("each channel has its own names", "[uplink][influxdb]") {
    LineEncoder encoder({}, "gw");
    encoder.add_channel(channel("a", "x"), {{"line", "1"}});
    encoder.add_channel(channel("b", "y"), {{"line", "2"}});
    TelemetrySample sample = sample_of(1.5);
    sample.channel = ChannelId{1};
    CHECK(line(encoder, sample) == "b,gateway=gw,line=2 y=1.5 5");
    sample.channel = ChannelId{0};
    CHECK(line(encoder, sample) == "a,gateway=gw,line=1 x=1.5 5");
}

}  // namespace telegate::uplink
