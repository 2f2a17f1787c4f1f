#include "device/sample_batch.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <limits>

using namespace telegate;

namespace {

struct BatchFixture {
    SystemClock clock;
    ChannelTable table;
    std::vector<std::size_t> portions;  // samples per hand-over
    std::vector<TelemetrySample> samples;
    SampleBatch batch{clock, table, {DeviceId{3}, "boiler"}, [this](std::span<const TelemetrySample> portion) {
                          portions.push_back(portion.size());
                          samples.insert(samples.end(), portion.begin(), portion.end());
                      }};

    SampleBatch::Channel channel = batch.add_channel("temp", "Cel");

    /// Adds one value in its own tick and returns the sample.
    template <class Value>
    TelemetrySample sample_of(Value value, Quality quality = Quality::good) {
        batch.begin(1, 1);
        batch.add(channel, value, quality);
        batch.flush();
        return samples.back();
    }
};

}  // namespace

TEST_CASE("a sample carries the times of its tick, its channel and the next number of that channel",
          "[device][batch]") {
    BatchFixture f;
    const auto other = f.batch.add_channel("pressure", "bar");
    f.batch.begin(1'700'000'000'000'000'000, 42);
    f.batch.add(f.channel, 1.5);
    f.batch.add(other, 2.5, Quality::uncertain);
    f.batch.add(f.channel, 3.5);
    f.batch.flush();
    REQUIRE(f.samples.size() == 3);
    CHECK(f.samples[0].time_utc_ns == 1'700'000'000'000'000'000);
    CHECK(f.samples[0].time_mono_ns == 42);
    CHECK(f.table.at(f.samples[0].channel).topic == "boiler/temp");
    CHECK(f.table.at(f.samples[1].channel).topic == "boiler/pressure");
    CHECK(f.samples[1].quality == Quality::uncertain);
    CHECK(f.samples[0].seq == 1);
    CHECK(f.samples[1].seq == 1);
    CHECK(f.samples[2].seq == 2);
}

TEST_CASE("a channel belongs to its device and keeps its unit", "[device][batch]") {
    BatchFixture f;
    const TelemetrySample sample = f.sample_of(1.0);
    CHECK(f.table.at(sample.channel).device_id == DeviceId{3});
    CHECK(f.table.at(sample.channel).unit == "Cel");
    CHECK(f.batch.device_id() == DeviceId{3});
    CHECK(f.batch.device() == "boiler");
}

TEST_CASE("each value type is kept", "[device][batch]") {
    BatchFixture f;
    const TelemetrySample real = f.sample_of(2.5);
    CHECK(real.type == ValueType::real);
    CHECK(real.value.real == 2.5);
    const TelemetrySample integer = f.sample_of(std::numeric_limits<std::int64_t>::min());
    CHECK(integer.type == ValueType::integer);
    CHECK(integer.value.integer == std::numeric_limits<std::int64_t>::min());
    const TelemetrySample boolean = f.sample_of(true);
    CHECK(boolean.type == ValueType::boolean);
    CHECK(boolean.value.boolean);
    const TelemetrySample text = f.sample_of(std::string_view("running"));
    CHECK(text.type == ValueType::text);
    CHECK(text.text() == "running");
    CHECK(text.flags == 0);
}

TEST_CASE("NaN and infinity have no value and are bad", "[device][batch]") {
    BatchFixture f;
    const double value = GENERATE(std::nan(""), std::numeric_limits<double>::infinity(), -HUGE_VAL);
    const TelemetrySample sample = f.sample_of(value, Quality::uncertain);
    CHECK(sample.type == ValueType::none);
    CHECK(sample.quality == Quality::bad);
    CHECK(sample.seq == 1);
}

TEST_CASE("text that is too long is truncated at a character boundary and flagged", "[device][batch]") {
    BatchFixture f;
    const std::string most(31, 'x');
    const auto [text, kept] = GENERATE_COPY(table<std::string, std::string>({
        {most + "y", most + "y"},                                             // just fits
        {most + "yz", most + "y"},                                            // one byte too many
        {most + "\xC3\xA9", most},                                            // two bytes, which are not split
        {most.substr(2) + "\xF0\x9F\x98\x80", most.substr(2)},                // four bytes
        {std::string(40, '\x80'), std::string(29, '\x80')},                   // not UTF-8: truncated anywhere
        {most.substr(2) + "\xE2\x82\xAC!", most.substr(2) + "\xE2\x82\xAC"},  // ends with a whole character
    }));
    CAPTURE(text);
    const TelemetrySample sample = f.sample_of(std::string_view(text));
    CHECK(sample.text() == kept);
    CHECK(sample.flags == (kept == text ? 0 : sample_flag::text_truncated));
}

TEST_CASE("an absent value is bad, has no type and uses a number", "[device][batch]") {
    BatchFixture f;
    f.batch.begin(1, 1);
    f.batch.add_absent(f.channel);
    f.batch.add(f.channel, 1.0);
    f.batch.flush();
    CHECK(f.samples[0].type == ValueType::none);
    CHECK(f.samples[0].quality == Quality::bad);
    CHECK(f.samples[1].seq == 2);
}

TEST_CASE("only channels without a sample in this tick become absent", "[device][batch]") {
    BatchFixture f;
    const auto other = f.batch.add_channel("pressure", "bar");
    f.batch.begin(1, 1);
    f.batch.add(f.channel, 1.0);
    f.batch.add(other, 1.0);
    f.batch.begin(2, 2);
    f.batch.add(f.channel, 2.0);
    f.batch.add_absent_for_missing();
    f.batch.flush();
    REQUIRE(f.samples.size() == 4);
    CHECK(f.table.at(f.samples[3].channel).channel == "pressure");
    CHECK(f.samples[3].quality == Quality::bad);
    CHECK(f.samples[3].time_mono_ns == 2);
}

TEST_CASE("a full batch is handed over and filling continues", "[device][batch]") {
    BatchFixture f;
    f.batch.begin(1, 1);
    for (std::size_t count = 0; count < 2 * SampleBatch::samples_max + 1; ++count) {
        f.batch.add(f.channel, 1.0);
    }
    f.batch.flush();
    f.batch.flush();
    CHECK(f.portions == std::vector<std::size_t>{SampleBatch::samples_max, SampleBatch::samples_max, 1});
    CHECK(f.samples.back().seq == 2 * SampleBatch::samples_max + 1);
}

TEST_CASE("declaring a channel again returns the same channel", "[device][batch]") {
    BatchFixture f;
    CHECK(f.batch.add_channel("temp", "K") == f.channel);
    CHECK(f.batch.channels() == 1);
}

TEST_CASE("a channel's name is converted to a topic part", "[device][batch]") {
    BatchFixture f;
    f.batch.add_channel("Core 0/Load", "%");
    CHECK(f.table.at(ChannelId{1}).topic == "boiler/core_0_load");
}

TEST_CASE("a channel that the full table refuses gets no samples", "[device][batch]") {
    BatchFixture f;
    while (f.table.size() < ChannelTable::channels_max) {
        REQUIRE(f.table.add(DeviceId{0}, "filler", std::to_string(f.table.size()), ""));
    }
    const auto refused = f.batch.add_channel("one-too-many", "");
    CHECK(refused == SampleBatch::Channel::none);
    f.batch.begin(1, 1);
    f.batch.add(refused, 1.0);
    f.batch.add(refused, std::string_view("x"));
    f.batch.add_absent(refused);
    f.batch.flush();
    CHECK(f.samples.empty());
    CHECK(f.batch.channels() == 1);
}
