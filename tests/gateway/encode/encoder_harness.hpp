#pragma once

#include "core/channel_table.hpp"
#include "core/endian.hpp"
#include "core/telemetry_sample.hpp"
#include "encode/encoders.hpp"
#include "encode/notice.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <tuple>

namespace telegate::test {

inline constexpr std::int64_t epoch_ms = 1'795'217'494'123;

/// Encodes to a buffer of exactly bytes_max() bytes, so that a sanitizer detects an overflow.
template <class Encoder>
std::string encoded(Encoder& encoder, const TelemetrySample& sample) {
    const auto room = std::make_unique<char[]>(encoder.bytes_max(sample));
    return std::string(room.get(), encoder.encode(sample, room.get()));
}
template <class Encoder>
std::string encoded(const ChannelTable& channels, const TelemetrySample& sample) {
    Encoder encoder(channels, epoch_ms);
    return encoded(encoder, sample);
}
template <class... Encoder>
std::string encoded_by(std::tuple<Encoder...>* /*types*/, PayloadFormat format, const ChannelTable& channels,
                       const TelemetrySample& sample) {
    using Encode = std::string (*)(const ChannelTable&, const TelemetrySample&);
    constexpr std::array<Encode, sizeof...(Encoder)> encode{encoded<Encoder>...};
    return encode[static_cast<std::size_t>(format)](channels, sample);
}
inline std::string encoded(PayloadFormat format, const ChannelTable& channels, const TelemetrySample& sample) {
    return encoded_by(static_cast<Encoders*>(nullptr), format, channels, sample);
}

/// An encoder with one channel, "boiler/temp" in degrees, and samples of it.
template <class Encoder>
struct EncoderHarness {
    ChannelTable channels;
    ChannelId channel = channels.add(DeviceId{0}, "boiler", "temp", "Cel").value();
    Encoder encoder{channels, epoch_ms};

    [[nodiscard]] TelemetrySample sample() const {
        TelemetrySample result{};
        result.channel = channel;
        result.seq = 42;
        result.time_utc_ns = 1'795'216'294'123'456'789;
        return result;
    }
    [[nodiscard]] TelemetrySample real(double value) const {
        TelemetrySample result = sample();
        result.type = ValueType::real;
        result.value.real = value;
        return result;
    }
    [[nodiscard]] TelemetrySample integer(std::int64_t value) const {
        TelemetrySample result = sample();
        result.type = ValueType::integer;
        result.value.integer = value;
        return result;
    }
    [[nodiscard]] TelemetrySample boolean(bool value) const {
        TelemetrySample result = sample();
        result.type = ValueType::boolean;
        result.value.boolean = value;
        return result;
    }
    [[nodiscard]] TelemetrySample text(std::string_view value) const {
        TelemetrySample result = sample();
        result.type = ValueType::text;
        result.text_bytes = static_cast<std::uint8_t>(value.copy(result.value.text, sizeof result.value.text));
        return result;
    }
    std::string encode(const TelemetrySample& sample) { return encoded(encoder, sample); }
};

/// Returns the sequence numbers of the samples in a payload, read with nlohmann/json or from the documented offset.
inline SeqRange seqs_of(PayloadFormat format, std::string_view payload) {
    if (format != PayloadFormat::record) {
        const auto document =
            format == PayloadFormat::json ? nlohmann::json::parse(payload) : nlohmann::json::from_cbor(payload);
        return {document.at("seq"), document.at("seq")};
    }
    constexpr std::size_t record_bytes = 64;
    constexpr std::size_t seq_at = 16;
    return {load_little_endian<std::uint64_t>(payload.data() + seq_at),
            load_little_endian<std::uint64_t>(payload.data() + payload.size() - record_bytes + seq_at)};
}

/// Implemented differently from the encoders.
inline std::string iso_text(std::int64_t utc_ns) {
    const std::int64_t fraction = (utc_ns % 1'000'000'000 + 1'000'000'000) % 1'000'000'000;
    const std::time_t second = utc_ns / 1'000'000'000 - (utc_ns % 1'000'000'000 < 0 ? 1 : 0);
    std::tm parts{};
    ::gmtime_r(&second, &parts);
    std::string date(32, '\0');
    date.resize(std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S.", &parts));
    const std::string digits = std::to_string(1'000'000'000 + fraction);
    return date + digits.substr(1) + 'Z';
}

/// The JSON of a sample of the harness's channel, made with nlohmann/json.
inline nlohmann::json document_of(const TelemetrySample& sample) {
    nlohmann::json value;
    nlohmann::json quality = to_string(sample.quality);
    switch (sample.type) {
        case ValueType::none: break;
        case ValueType::real:
            value = sample.value.real;
            if (!std::isfinite(sample.value.real)) {
                value = nullptr;
                quality = "bad";
            }
            break;
        case ValueType::integer: value = sample.value.integer; break;
        case ValueType::boolean: value = sample.value.boolean; break;
        case ValueType::text: value = sample.text(); break;
    }
    nlohmann::json document{{"device", "boiler"},
                            {"channel", "temp"},
                            {"epoch", epoch_ms},
                            {"seq", sample.seq},
                            {"time", iso_text(sample.time_utc_ns)},
                            {"value", value},
                            {"unit", "Cel"},
                            {"quality", quality}};
    if ((sample.flags & sample_flag::time_unsynchronized) != 0) {
        document["time_quality"] = "unsynchronized";
        document["mono_ns"] = sample.time_mono_ns;
    }
    return document;
}

/// Samples of all types, including error-prone values. Threads: one. Failure: none.
class RandomSamples {
  public:
    explicit RandomSamples(std::uint64_t seed) : random_(seed) {}

    /// `any_bytes`: text may be invalid UTF-8.
    template <class Encoder>
    TelemetrySample next(const EncoderHarness<Encoder>& from, bool any_bytes) {
        TelemetrySample sample = with_value(from, any_bytes);
        sample.seq = random_() >> random_() % 64;
        sample.quality = static_cast<Quality>(random_() % 4);
        sample.time_utc_ns = time();
        sample.time_mono_ns = integer();
        sample.flags = random_() % 4 == 0 ? sample_flag::time_unsynchronized : std::uint8_t{0};
        return sample;
    }

    double real() {
        switch (random_() % 6) {
            case 0: return std::bit_cast<double>(random_());
            case 1: return std::bit_cast<double>(random_() >> 12U);  // subnormal, or zero
            case 2: return decimal();
            case 3: return static_cast<double>(static_cast<std::int64_t>(random_()) >> random_() % 64);
            case 4: return std::bit_cast<double>(std::bit_cast<std::uint64_t>(decimal()) + random_() % 3 - 1);
            default:
                return pick({0.0, -0.0, 1e5, 1e15, 1e16, 1e21, 5e-324, 1.7976931348623157e308, 0.001, 1e-4,
                             9007199254740992.0, 999999999999.999, 1e12, 0.3, 2.675, -12.5});
        }
    }
    std::int64_t integer() {
        return random_() % 2 == 0 ? static_cast<std::int64_t>(random_()) >> random_() % 64
                                  : pick<std::int64_t>({0,
                                                        -1,
                                                        23,
                                                        24,
                                                        255,
                                                        256,
                                                        65'535,
                                                        65'536,
                                                        -24,
                                                        -25,
                                                        -256,
                                                        -257,
                                                        4'294'967'295,
                                                        4'294'967'296,
                                                        9'007'199'254'740'991,
                                                        9'007'199'254'740'992,
                                                        9'007'199'254'740'993,
                                                        INT64_MAX,
                                                        INT64_MIN,
                                                        -9'007'199'254'740'993});
    }
    std::string text(bool any_bytes) {
        std::string text;
        const std::uint64_t bytes = random_() % (TelemetrySample::text_bytes_max + 1);
        for (;;) {
            const std::string piece = any_bytes ? std::string(1, static_cast<char>(random_())) : character();
            if (text.size() + piece.size() > bytes) {
                return text;
            }
            text += piece;
        }
    }
    std::int64_t time() {
        constexpr std::int64_t year_ends_ns = 1'798'761'600'000'000'000;  // around 2026
        const auto near = static_cast<std::int64_t>(random_() % 2'000'000'001) - 1'000'000'000;
        switch (random_() % 5) {
            case 0: return static_cast<std::int64_t>(random_());  // 1677 to 2262
            case 1: return near;
            case 2: return year_ends_ns + near;
            case 3: return pick<std::int64_t>({INT64_MIN, INT64_MAX, 0, -1, year_ends_ns, year_ends_ns - 1});
            default: return last_time_;  // like the samples of one tick
        }
    }

  private:
    template <class Value>
    Value pick(std::initializer_list<Value> values) {
        return values.begin()[random_() % values.size()];
    }
    /// A number with few decimals.
    double decimal() {
        const double powers = pick({1.0, 10.0, 100.0, 1'000.0, 10'000.0});
        return static_cast<double>(static_cast<std::int64_t>(random_()) >> (14 + random_() % 50)) / powers;
    }
    /// All ASCII bytes, and characters of two, three and four bytes.
    std::string character() {
        const std::uint64_t code = random_() % 140;
        return code < 128 ? std::string(1, static_cast<char>(code))
                          : pick<std::string>({"\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xC2\x80",
                                               "\xEF\xBF\xBD", "\"", "\\", "\x7F"});
    }
    template <class Encoder>
    TelemetrySample with_value(const EncoderHarness<Encoder>& from, bool any_bytes) {
        switch (random_() % 5) {
            case 0: return from.real(real());
            case 1: return from.integer(integer());
            case 2: return from.boolean(random_() % 2 == 0);
            case 3: return from.text(text(any_bytes));
            default: return from.sample();
        }
    }

    std::mt19937_64 random_;
    std::int64_t last_time_ = 1'795'216'294'123'456'789;
};

}  // namespace telegate::test
