#include "codec/value_column.hpp"

#include "codec/integer_column.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

namespace telegate::store {
namespace {

// The first byte of a column.
constexpr std::uint8_t uniform = 1;  // one type, quality and flags for all samples
constexpr std::uint8_t mixed = 0;    // a byte of each for every sample

// The first byte of real values: the number of decimals, or this.
constexpr std::uint8_t bit_patterns = 0xFF;
constexpr std::array<double, 10> powers = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

constexpr std::uint8_t types_end = static_cast<std::uint8_t>(ValueType::text) + 1;
constexpr std::uint8_t qualities_end = static_cast<std::uint8_t>(Quality::stale) + 1;

/// Returns `value * power` if that is a whole number that gives back exactly the same bits when divided.
std::optional<std::int64_t> as_decimal(double value, double power) noexcept {
    constexpr double largest = 0x1p51;
    constexpr double rounding = 0x1.8p52;  // adding and subtracting it rounds to a whole number
    const double scaled = value * power;
    if (!(std::abs(scaled) < largest)) {
        return std::nullopt;
    }
    const double whole = (scaled + rounding) - rounding;
    const auto number = static_cast<std::int64_t>(whole);
    const double back = static_cast<double>(number) / power;
    return std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value) ? std::optional(number)
                                                                                     : std::nullopt;
}

/// Fills `scaled` with the decimal form of the bit patterns. Returns the number of decimals, or `bit_patterns`.
std::uint8_t find_decimals(std::span<const std::uint64_t> patterns, std::vector<std::uint64_t>& scaled) {
    const auto value = [&](std::size_t i) {
        return std::bit_cast<double>(patterns[i]);
    };
    for (std::size_t decimals = 0; decimals < powers.size(); ++decimals) {
        const double power = powers[decimals];
        if (!as_decimal(value(0), power) || !as_decimal(value(patterns.size() / 2), power) ||
            !as_decimal(value(patterns.size() - 1), power)) {
            continue;
        }
        scaled.clear();
        for (std::size_t i = 0; i < patterns.size(); ++i) {
            const auto number = as_decimal(value(i), power);
            if (!number) {
                break;
            }
            scaled.push_back(static_cast<std::uint64_t>(*number));
        }
        if (scaled.size() == patterns.size()) {
            return static_cast<std::uint8_t>(decimals);
        }
    }
    return bit_patterns;
}

void encode_reals(ColumnScratch& scratch, ByteBuffer& out) {
    const std::uint8_t decimals = find_decimals(scratch.numbers, scratch.scaled);
    out.push_back(static_cast<std::byte>(decimals));
    if (decimals == bit_patterns) {
        encode_bit_patterns(scratch.numbers, out);
    } else {
        encode_integers(scratch.scaled, out);
    }
}

std::uint64_t bits_of(const TelemetrySample& sample) noexcept {
    switch (sample.type) {
        case ValueType::real: return std::bit_cast<std::uint64_t>(sample.value.real);
        case ValueType::integer: return static_cast<std::uint64_t>(sample.value.integer);
        case ValueType::boolean: return sample.value.boolean ? 1 : 0;
        case ValueType::text: return sample.text_bytes;
        case ValueType::none: break;
    }
    return 0;
}

void encode_type(ValueType type, const ChannelSamples<const TelemetrySample>& channel, ColumnScratch& scratch,
                 ByteBuffer& out) {
    scratch.numbers.clear();
    for (std::size_t i = 0; i < channel.size(); ++i) {
        if (channel.at(i).type == type) {
            scratch.numbers.push_back(bits_of(channel.at(i)));
        }
    }
    if (scratch.numbers.empty()) {
        return;
    }
    if (type == ValueType::real) {
        return encode_reals(scratch, out);
    }
    encode_integers(scratch.numbers, out);
    for (std::size_t i = 0; type == ValueType::text && i < channel.size(); ++i) {
        if (channel.at(i).type == type) {
            append_text(out, channel.at(i).text());
        }
    }
}

constexpr std::array value_types = {ValueType::real, ValueType::integer, ValueType::boolean, ValueType::text};

void set_value(TelemetrySample& sample, std::uint64_t bits, ByteReader& in) noexcept {
    switch (sample.type) {
        case ValueType::real: sample.value.real = std::bit_cast<double>(bits); break;
        case ValueType::integer: sample.value.integer = static_cast<std::int64_t>(bits); break;
        case ValueType::boolean:
            if (bits > 1) {
                in.fail();
            }
            sample.value.boolean = bits == 1;
            break;
        case ValueType::text:
            if (bits > TelemetrySample::text_bytes_max) {
                return in.fail();
            }
            sample.text_bytes = static_cast<std::uint8_t>(bits);
            break;
        case ValueType::none: break;
    }
}

void read_reals(ByteReader& in, std::span<std::uint64_t> patterns) noexcept {
    const auto decimals = in.number<std::uint8_t>();
    decode_integers(in, patterns);
    if (decimals == bit_patterns) {
        return;
    }
    if (decimals >= powers.size()) {
        return in.fail();
    }
    for (std::uint64_t& pattern : patterns) {
        const auto scaled = static_cast<double>(static_cast<std::int64_t>(pattern));
        pattern = std::bit_cast<std::uint64_t>(scaled / powers[decimals]);
    }
}

void decode_type(ValueType type, ByteReader& in, const ChannelSamples<TelemetrySample>& channel,
                 std::vector<std::uint64_t>& numbers) {
    const auto count = static_cast<std::size_t>(
        std::count_if(channel.indexes.begin(), channel.indexes.end(),
                      [&](std::uint32_t index) { return channel.samples[index].type == type; }));
    if (count == 0) {
        return;
    }
    numbers.resize(count);
    type == ValueType::real ? read_reals(in, numbers) : decode_integers(in, numbers);
    std::size_t next = 0;
    for (std::size_t i = 0; i < channel.size(); ++i) {
        if (channel.at(i).type == type) {
            set_value(channel.at(i), numbers[next++], in);
        }
    }
    for (std::size_t i = 0; type == ValueType::text && !in.failed() && i < channel.size(); ++i) {
        TelemetrySample& sample = channel.at(i);
        if (sample.type == type) {
            const std::string_view text = in.text(sample.text_bytes);
            std::copy(text.begin(), text.end(), sample.value.text);
        }
    }
}

void skip_type(ValueType type, ByteReader& in, std::size_t count, std::vector<std::uint64_t>& numbers) {
    switch (type) {
        case ValueType::real:
            static_cast<void>(in.read_bytes(count > 0 ? 1 : 0));  // the number of decimals
            return skip_integers(in, count);
        case ValueType::integer:
        case ValueType::boolean: return skip_integers(in, count);
        case ValueType::text:
            numbers.resize(count);
            decode_integers(in, numbers);
            for (const std::uint64_t bytes : numbers) {
                static_cast<void>(in.read_bytes(bytes));
            }
            return;
        case ValueType::none: break;
    }
}

}  // namespace

void encode_values(const ChannelSamples<const TelemetrySample>& channel, ColumnScratch& scratch, ByteBuffer& out) {
    const TelemetrySample& first = channel.at(0);
    const bool is_uniform = std::all_of(channel.indexes.begin(), channel.indexes.end(), [&](std::uint32_t index) {
        const TelemetrySample& sample = channel.samples[index];
        return sample.type == first.type && sample.quality == first.quality && sample.flags == first.flags;
    });
    out.push_back(static_cast<std::byte>(is_uniform ? uniform : mixed));
    const std::size_t shown = is_uniform ? 1 : channel.size();
    for (std::size_t i = 0; i < shown; ++i) {
        out.push_back(static_cast<std::byte>(channel.at(i).type));
    }
    for (std::size_t i = 0; i < shown; ++i) {
        out.push_back(static_cast<std::byte>(channel.at(i).quality));
    }
    for (std::size_t i = 0; i < shown; ++i) {
        out.push_back(static_cast<std::byte>(channel.at(i).flags));
    }
    for (const ValueType type : value_types) {
        if (!is_uniform || type == first.type) {
            encode_type(type, channel, scratch, out);
        }
    }
}

void decode_values(ByteReader& in, const ChannelSamples<TelemetrySample>& channel, ColumnScratch& scratch) {
    const auto form = in.number<std::uint8_t>();
    const std::size_t shown = form == uniform ? 1 : channel.size();
    const Bytes types = in.read_bytes(shown);
    const Bytes qualities = in.read_bytes(shown);
    const Bytes flags = in.read_bytes(shown);
    if (in.failed() || form > uniform) {
        return in.fail();
    }
    for (std::size_t i = 0; i < channel.size(); ++i) {
        const std::size_t at = form == uniform ? 0 : i;
        const auto type = std::to_integer<std::uint8_t>(types[at]);
        const auto quality = std::to_integer<std::uint8_t>(qualities[at]);
        if (type >= types_end || quality >= qualities_end) {
            return in.fail();
        }
        TelemetrySample& sample = channel.at(i);
        sample.type = static_cast<ValueType>(type);
        sample.quality = static_cast<Quality>(quality);
        sample.flags = std::to_integer<std::uint8_t>(flags[at]);
    }
    for (const ValueType type : value_types) {
        if (!in.failed() && (form == mixed || channel.at(0).type == type)) {
            decode_type(type, in, channel, scratch.numbers);
        }
    }
}

void skip_values(ByteReader& in, std::size_t samples, ColumnScratch& scratch) {
    const auto form = in.number<std::uint8_t>();
    const std::size_t shown = form == uniform ? 1 : samples;
    const Bytes types = in.read_bytes(shown);
    static_cast<void>(in.read_bytes(2 * shown));  // qualities and flags
    if (in.failed() || form > uniform) {
        return in.fail();
    }
    if (form == uniform) {
        return skip_type(static_cast<ValueType>(types[0]), in, samples, scratch.numbers);
    }
    for (const ValueType type : value_types) {
        const auto count = std::count(types.begin(), types.end(), static_cast<std::byte>(type));
        skip_type(type, in, static_cast<std::size_t>(count), scratch.numbers);
    }
}

}  // namespace telegate::store
