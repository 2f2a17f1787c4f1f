#include "command.hpp"
#include "core/channel_table.hpp"
#include "core/telemetry_sample.hpp"
#include "encode/cbor_encoder.hpp"
#include "encode/json_encoder.hpp"
#include "encode/record_encoder.hpp"
#include "system.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstring>
#include <random>
#include <stdexcept>

namespace telegate::perf {

namespace {

using Document = nlohmann::ordered_json;

constexpr std::int64_t epoch_ms = 1'795'217'494'123;
constexpr std::int64_t first_time_ns = 1'795'216'294'123'456'789;
constexpr std::int64_t reading_interval_ns = 10'000'037;
constexpr std::size_t codec_channels = 64;
constexpr std::size_t samples_max = 16 * codec_channels;
constexpr std::size_t buffer_bytes = 256 * 1024;   // of a segment of the log, which stays in the cache
constexpr std::uint64_t slow_engine_divisor = 10;  // engines that take ten times as long encode fewer samples

struct CodecOptions {
    std::vector<std::string> formats{"json", "cbor", "record", "nlohmann"};
    std::vector<std::string> values{"few", "full", "integer", "boolean", "text"};
    std::uint64_t samples = 1'000'000;
};

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

/// The samples of a device with 64 channels in 16 ticks. They are the same in each run.
/// Threads: one. Limits: samples_max samples. Failure: may throw std::bad_alloc.
struct CodecSamples {
    explicit CodecSamples(std::string_view values) {
        std::mt19937_64 random(1);
        for (std::size_t index = 0; index < samples_max; ++index) {
            const std::size_t tick = index / codec_channels;
            if (tick == 0) {
                channels.add(DeviceId{0}, "host", index == 0 ? "cpu.user" : "cpu" + std::to_string(index) + ".user",
                             "%");
            }
            TelemetrySample& sample = samples.emplace_back();
            sample.time_utc_ns = first_time_ns + static_cast<std::int64_t>(tick) * reading_interval_ns;
            sample.seq = 12'300 + tick;
            sample.channel = static_cast<ChannelId>(index % codec_channels);
            set_value(sample, values, random);
        }
    }

    ChannelTable channels;
    std::vector<TelemetrySample> samples;
};
using Source = std::shared_ptr<const CodecSamples>;

/// Prevents the compiler from removing writes to this memory.
void keep(const void* written) {
    asm volatile("" : : "g"(written) : "memory");
}

/// Encodes `count` samples one after the other into a buffer.
template <class Encoder>
void encode_all(Encoder& encoder, const std::vector<TelemetrySample>& samples, std::uint64_t count,
                std::vector<char>& buffer) {
    std::size_t used = 0;
    std::size_t next = 0;
    for (std::uint64_t done = 0; done < count; ++done) {
        const TelemetrySample& sample = samples[next];
        next = next + 1 < samples.size() ? next + 1 : 0;
        if (used + encoder.bytes_max(sample) > buffer.size()) {
            keep(buffer.data());
            used = 0;
        }
        used += encoder.encode(sample, buffer.data() + used);
    }
    keep(buffer.data());
}

Document value_of(const TelemetrySample& sample) {
    switch (sample.type) {
        case ValueType::real: return sample.value.real;
        case ValueType::integer: return sample.value.integer;
        case ValueType::boolean: return sample.value.boolean;
        case ValueType::text: return sample.text();
        case ValueType::none: break;
    }
    return nullptr;
}

/// Returns the document that a program with a JSON library would write.
Document document_of(const ChannelTable& channels, const TelemetrySample& sample, const std::string& time) {
    const ChannelInfo& info = channels.at(sample.channel);
    return {{"device", info.device}, {"channel", info.channel},
            {"epoch", epoch_ms},     {"seq", sample.seq},
            {"time", time},          {"value", value_of(sample)},
            {"unit", info.unit},     {"quality", to_string(sample.quality)}};
}

template <class Encoder>
std::string payload_of(Encoder& encoder, const TelemetrySample& sample) {
    std::string payload(encoder.bytes_max(sample), '\0');
    payload.resize(encoder.encode(sample, payload.data()));
    return payload;
}

/// Throws if a payload differs from its sample.
void check(const CodecSamples& from) {
    JsonEncoder json(from.channels, epoch_ms);
    CborEncoder cbor(from.channels, epoch_ms);
    RecordEncoder record(from.channels, epoch_ms);
    for (const TelemetrySample& sample : from.samples) {
        const Document parsed = Document::parse(payload_of(json, sample));
        const Document expected = document_of(from.channels, sample, parsed.at("time"));
        Record fields{};
        decltype(fields.value) value;
        std::memcpy(value.data(), &sample.value, value.size());
        std::memcpy(&fields, payload_of(record, sample).data(), sizeof fields);
        if (parsed != expected || Document::from_cbor(payload_of(cbor, sample)) != expected ||
            fields.seq != sample.seq || fields.time_utc_ns != sample.time_utc_ns || fields.value != value) {
            throw std::runtime_error("a payload differs from its sample: " + expected.dump());
        }
    }
}

/// Encodes a number of samples.
using Encode = std::function<void(std::uint64_t)>;

template <class Encoder>
Encode encode_with(const Source& from) {
    const auto encoder = std::make_shared<Encoder>(from->channels, epoch_ms);
    const auto buffer = std::make_shared<std::vector<char>>(buffer_bytes);
    encode_all(*encoder, from->samples, samples_max, *buffer);  // warm-up; makes each channel known
    return [=](std::uint64_t count) {
        encode_all(*encoder, from->samples, count, *buffer);
    };
}

template <class Write>
Encode encode_with_library(const Source& from, Write write) {
    return [=](std::uint64_t count) {
        for (std::uint64_t done = 0; done < count; ++done) {
            const auto written =
                write(document_of(from->channels, from->samples[done % samples_max], "2026-11-20T23:11:34.123456789Z"));
            keep(written.data());
        }
    };
}

/// Returns the engines for a kind of values.
Group group_of(const CodecOptions& options, const std::string& values, Report& report) {
    const std::string shown = values == "few" ? "12.5" : values == "full" ? "17 digits" : values;
    const std::string table = shown + ", nanoseconds per sample";
    Group group{shown};
    const auto from = std::make_shared<const CodecSamples>(values);
    check(*from);
    const auto add = [&](const std::string& name, const Encode& encode, double most = 0) {
        if (!contains(options.formats, name.substr(0, name.find(' ')))) {
            return;
        }
        const bool is_slow = name.starts_with("nlohmann");
        const std::uint64_t count = std::max<std::uint64_t>(1, options.samples / (is_slow ? slow_engine_divisor : 1));
        const Goal goal = values == "few" && most > 0 ? Goal::at_most(most) : Goal{};
        group.engines.push_back({name, [=, &report] {
                                     const auto begin = std::chrono::steady_clock::now();
                                     encode(count);
                                     const double ns = seconds_since(begin) * 1e9;
                                     report.add(table, name, ns / static_cast<double>(count), goal);
                                 }});
    };
    add("json", encode_with<JsonEncoder>(from), 120);
    add("cbor", encode_with<CborEncoder>(from), 60);
    add("record", encode_with<RecordEncoder>(from), 10);
    add("nlohmann json", encode_with_library(from, [](const Document& document) { return document.dump(); }));
    add("nlohmann cbor",
        encode_with_library(from, [](const Document& document) { return Document::to_cbor(document); }));
    group.finish = [=, &report] {
        for (const std::string format : {"json", "cbor"}) {
            report.add_ratio(shown + ", ratios", "nlohmann over " + format,
                             {report.find(table, "nlohmann " + format), report.find(table, format)});
        }
    };
    return group;
}

Plan plan(const CodecOptions& options, Report& report) {
    Plan groups;
    for (const std::string& values : options.values) {
        groups.push_back(group_of(options, values, report));
    }
    return groups;
}

void add_options(CLI::App& app, CodecOptions& chosen) {
    app.add_option("--samples", chosen.samples, "Samples per encoder and run; a tenth of them for nlohmann")
        ->check(CLI::Range(1, 1'000'000'000));
    add_list(app, "--format", chosen.formats, "Formats, separated by commas; nlohmann is for comparison")
        ->check(CLI::IsMember(chosen.formats));
    add_list(app, "--value", chosen.values, "Kinds of values, separated by commas: numbers with few or all digits, ...")
        ->check(CLI::IsMember(chosen.values));
}

}  // namespace

Planner describe_codec_command(CLI::App& app) {
    return make_planner<CodecOptions>(app, add_options, plan);
}

}  // namespace telegate::perf
