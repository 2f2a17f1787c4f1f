#include "codec_samples.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

namespace telegate::perf {

namespace {

constexpr std::int64_t first_time_ns = 1'795'216'294'123'456'789;
constexpr std::int64_t reading_interval_ns = 10'000'037;
constexpr std::uint64_t first_seq = 12'300;

void set_value(TelemetrySample& sample, std::string_view values, std::mt19937_64& random) {
    if (values == "few") {
        sample.type = ValueType::real;
        sample.value.real = static_cast<double>(random() % 1'000) / 10.0;  // a percentage
    } else if (values == "full") {
        sample.type = ValueType::real;
        sample.value.real = std::uniform_real_distribution<double>(0.0, 100.0)(random);
    } else if (values == "integer") {
        sample.type = ValueType::integer;
        sample.value.integer = static_cast<std::int64_t>(random() % 100'000'000'000);  // bytes
    } else if (values == "boolean") {
        sample.type = ValueType::boolean;
        sample.value.boolean = random() % 2 == 0;
    } else {
        constexpr std::array<std::string_view, 4> words{"on", "idle", "measuring", "waiting for the valve"};
        const std::string_view word = words[random() % words.size()];
        sample.type = ValueType::text;
        sample.text_bytes = static_cast<std::uint8_t>(word.size());
        std::copy(word.begin(), word.end(), sample.value.text);
    }
}

}  // namespace

CodecSamples::CodecSamples(std::string_view values) {
    for (std::size_t channel = 0; channel < channels_max; ++channel) {
        const std::string name = channel == 0 ? "cpu.user" : "cpu" + std::to_string(channel) + ".user";
        channels_.add(DeviceId{0}, "host", name, "%");
    }
    std::mt19937_64 random(1);
    for (std::size_t index = 0; index < samples_max; ++index) {
        const std::size_t tick = index / channels_max;
        TelemetrySample& sample = samples_.emplace_back();
        sample.time_utc_ns = first_time_ns + static_cast<std::int64_t>(tick) * reading_interval_ns;
        sample.seq = first_seq + tick;
        sample.channel = static_cast<ChannelId>(index % channels_max);
        set_value(sample, values, random);
    }
}

const std::vector<CodecValues>& codec_values() {
    static const std::vector<CodecValues> values{
        {"few", "12.5"}, {"full", "17 digits"}, {"integer", "integer"}, {"boolean", "boolean"}, {"text", "text"}};
    return values;
}

}  // namespace telegate::perf
