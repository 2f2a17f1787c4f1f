#include "codec_samples.hpp"
#include "command.hpp"
#include "encode/cbor_encoder.hpp"
#include "encode/json_encoder.hpp"
#include "encode/record_encoder.hpp"
#include "instruction_counter.hpp"
#include "surroundings.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

using Document = nlohmann::ordered_json;

constexpr std::int64_t epoch_ms = 1'795'217'494'123;
constexpr std::size_t room_bytes = 256 * 1024;     // of a segment of the log: what is written stays in the cache
constexpr std::uint64_t slow_engine_divisor = 10;  // a tenth of the samples is enough for who takes ten times as long

struct CodecOptions {
    std::vector<std::string> formats{"json", "cbor", "record", "nlohmann"};
    std::vector<std::string> values;
    std::uint64_t samples = 1'000'000;
};

/// Tells the compiler that somebody reads what was written.
void keep(const void* written) {
    asm volatile("" : : "g"(written) : "memory");
}

/// Encodes so many samples one behind the other, round and round. Returns the bytes.
template <class Encoder>
std::uint64_t encode_all(Encoder& encoder, const std::vector<TelemetrySample>& samples, std::uint64_t count,
                         std::vector<char>& room) {
    std::uint64_t bytes = 0;
    std::size_t used = 0;
    std::size_t next = 0;
    for (std::uint64_t done = 0; done < count; ++done) {
        const TelemetrySample& sample = samples[next];
        next = next + 1 < samples.size() ? next + 1 : 0;
        if (used + encoder.bytes_max(sample) > room.size()) {
            keep(room.data());
            used = 0;
        }
        const std::size_t written = encoder.encode(sample, room.data() + used);
        used += written;
        bytes += written;
    }
    keep(room.data());
    return bytes;
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

/// As a program would write it that uses a library. The time is the same text for all.
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

/// Throws unless every payload says what the sample says.
void check(const CodecSamples& from) {
    JsonEncoder json(from.channels(), epoch_ms);
    CborEncoder cbor(from.channels(), epoch_ms);
    RecordEncoder record(from.channels(), epoch_ms);
    for (const TelemetrySample& sample : from.samples()) {
        const Document parsed = Document::parse(payload_of(json, sample));
        const Document expected = document_of(from.channels(), sample, parsed.at("time"));
        Record fields{};
        decltype(fields.value) value;
        std::memcpy(value.data(), &sample.value, value.size());
        std::memcpy(&fields, payload_of(record, sample).data(), sizeof fields);
        if (parsed != expected || Document::from_cbor(payload_of(cbor, sample)) != expected ||
            fields.seq != sample.seq || fields.time_utc_ns != sample.time_utc_ns || fields.value != value) {
            throw std::runtime_error("a payload does not say what its sample says: " + expected.dump());
        }
    }
}

/// One row: an encoder and a kind of value.
struct CodecEngine {
    std::string format;
    std::string value;  // as it is shown
    std::uint64_t samples;
    std::function<std::uint64_t(std::uint64_t)> encode;  // so many samples; returns the bytes
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> instructions = std::nullopt;

    [[nodiscard]] std::string name() const { return format + ", " + value; }
    [[nodiscard]] std::uint64_t per_sample(std::uint64_t count) const { return (count + samples / 2) / samples; }
};

/// Samples of one kind, and how they are named.
struct Source {
    std::string value;
    std::shared_ptr<const CodecSamples> samples;
};

template <class Encoder>
CodecEngine make_engine(const std::string& format, const Source& from, const CodecOptions& options) {
    const auto encoder = std::make_shared<Encoder>(from.samples->channels(), epoch_ms);
    const auto room = std::make_shared<std::vector<char>>(room_bytes);
    const auto encode = [encoder, room, samples = from.samples](std::uint64_t count) {
        return encode_all(*encoder, samples->samples(), count, *room);
    };
    return {format, from.value, options.samples, encode};
}

template <class Write>
CodecEngine make_library_engine(const std::string& format, const Source& from, const CodecOptions& options,
                                Write write) {
    const auto encode = [write, samples = from.samples](std::uint64_t count) {
        const std::string time = "2026-11-20T23:11:34.123456789Z";
        std::uint64_t bytes = 0;
        for (std::uint64_t done = 0; done < count; ++done) {
            const TelemetrySample& sample = samples->samples()[done % CodecSamples::samples_max];
            bytes += write(document_of(samples->channels(), sample, time)).size();
        }
        return bytes;
    };
    return {format, from.value, std::max<std::uint64_t>(1, options.samples / slow_engine_divisor), encode};
}

void add_engines(std::vector<CodecEngine>& engines, const Source& from, const CodecOptions& options) {
    for (const std::string& format : options.formats) {
        if (format == "json") {
            engines.push_back(make_engine<JsonEncoder>(format, from, options));
        } else if (format == "cbor") {
            engines.push_back(make_engine<CborEncoder>(format, from, options));
        } else if (format == "record") {
            engines.push_back(make_engine<RecordEncoder>(format, from, options));
        } else {
            const auto dump = [](const Document& document) {
                return document.dump();
            };
            const auto to_cbor = [](const Document& document) {
                return Document::to_cbor(document);
            };
            engines.push_back(make_library_engine("nlohmann json", from, options, dump));
            engines.push_back(make_library_engine("nlohmann cbor", from, options, to_cbor));
        }
    }
}

std::vector<CodecEngine> make_engines(const CodecOptions& options) {
    std::vector<CodecEngine> engines;
    for (const CodecValues& values : codec_values()) {
        if (std::find(options.values.begin(), options.values.end(), values.name) != options.values.end()) {
            const Source from{values.shown, std::make_shared<const CodecSamples>(values.name)};
            check(*from.samples);
            add_engines(engines, from, options);
        }
    }
    return engines;
}

double nanoseconds_per_sample(CodecEngine& engine, InstructionCounter& counter) {
    const auto begin = std::chrono::steady_clock::now();
    counter.start();
    engine.bytes = engine.encode(engine.samples);
    engine.instructions = counter.stop();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return seconds * 1e9 / static_cast<double>(engine.samples);
}

/// One line for each kind of value.
Facts sizes_of(const std::vector<CodecEngine>& engines) {
    Facts facts;
    for (const CodecEngine& engine : engines) {
        if (facts.empty() || facts.back().first != engine.value) {
            facts.emplace_back(engine.value, "");
        }
        std::string& text = facts.back().second;
        text += (text.empty() ? "" : "; ") + engine.format + ' ' + std::to_string(engine.per_sample(engine.bytes)) +
                " bytes";
        if (engine.instructions) {
            text += ", " + std::to_string(engine.per_sample(*engine.instructions)) + " instructions";
        }
    }
    return facts;
}

/// How many times faster ours are, for each value that both have encoded.
std::vector<Row> ratios_of(const std::vector<Row>& rows) {
    const auto find = [&](const std::string& name) {
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& each) { return each.name == name; });
        return row == rows.end() ? nullptr : &*row;
    };
    std::vector<Row> ratios;
    for (const CodecValues& values : codec_values()) {
        for (const std::string format : {"json", "cbor"}) {
            const std::string name = format + ", " + values.shown;
            const Row* const ours = find(name);
            const Row* const theirs = find("nlohmann " + name);
            if (ours != nullptr && theirs != nullptr) {
                ratios.push_back(ratio(name + " over nlohmann", *theirs, *ours));
            }
        }
    }
    return ratios;
}

/// Of a value of few digits, in nanoseconds.
Goal goal_of(const std::string& engine) {
    constexpr std::array<std::pair<std::string_view, double>, 3> goals{
        {{"json, 12.5", 120}, {"cbor, 12.5", 60}, {"record, 12.5", 10}}};
    for (const auto& [name, most] : goals) {
        if (engine == name) {
            return Goal::at_most(most);
        }
    }
    return {};
}

Report measure(const CodecOptions& options, const CommonOptions& common) {
    std::vector<CodecEngine> engines = make_engines(options);
    Report report{"codec", "nanoseconds per sample", {}, {}, {}};
    InstructionCounter counter;
    for (CodecEngine& engine : engines) {
        (void)engine.encode(CodecSamples::samples_max);  // to warm up, and so that each channel is known
        report.rows.push_back({engine.name(), {}, goal_of(engine.name())});
    }
    for (std::size_t run = 0; run < common.runs; ++run) {
        for (std::size_t index = 0; index < engines.size(); ++index) {
            report.rows[index].values.push_back(nanoseconds_per_sample(engines[index], counter));
        }
    }
    const bool counts = !engines.empty() && engines.front().instructions.has_value();
    report.parameters = {{"samples", std::to_string(options.samples) + ", a tenth of it for nlohmann"},
                         {"runs", std::to_string(common.runs) + " after a short one to warm up"},
                         {"counted", counts ? "instructions, by the processor"
                                            : "no instructions, which this system does not allow; see "
                                              "tools/check_instructions.py"}};
    for (auto& fact : sizes_of(engines)) {
        report.parameters.push_back(std::move(fact));
    }
    report.ratios = ratios_of(report.rows);
    return report;
}

}  // namespace

Command::Action describe_codec_command(CLI::App& options) {
    const auto chosen = std::make_shared<CodecOptions>();
    std::vector<std::string> names;
    for (const CodecValues& values : codec_values()) {
        names.push_back(values.name);
    }
    chosen->values = names;
    options.add_option("--samples", chosen->samples, "Samples that each encoder encodes in each run")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
    options.add_option("--format", chosen->formats, "What writes: json, cbor, record; nlohmann for comparison")
        ->delimiter(',')
        ->check(CLI::IsMember(chosen->formats))
        ->capture_default_str();
    options.add_option("--value", chosen->values, "What is written: a number of few digits or of all, or another type")
        ->delimiter(',')
        ->check(CLI::IsMember(names))
        ->capture_default_str();
    return [chosen](const CommonOptions& common) {
        return measure(*chosen, common);
    };
}

}  // namespace telegate::perf
