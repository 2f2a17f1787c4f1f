#pragma once

#include "core/endian.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

/// Reads only the sequence numbers of the payloads of LoadDriver, so that the checks of subscribers do not limit a run.
namespace telegate::perf {

/// The sequence numbers in a message: `count` ascending numbers from `first` to `last`, with gaps where the queue
/// dropped samples.
struct PayloadNumbers {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t count = 0;

    [[nodiscard]] static PayloadNumbers one(std::uint64_t number) noexcept { return {number, number, 1}; }
};

/// The order of the keys is fixed (docs/wire.md), and all channel names have the same length.
[[nodiscard]] inline std::optional<PayloadNumbers> json_numbers(std::string_view payload) {
    constexpr std::string_view before_seq = R"({"device":"load","channel":"c0000","epoch":1795217494123)";
    constexpr std::string_view seq_key = R"(,"seq":)";
    if (payload.size() <= before_seq.size() || !payload.substr(before_seq.size()).starts_with(seq_key)) {
        return std::nullopt;
    }
    const char* const end = payload.data() + payload.size();
    std::uint64_t number = 0;
    const auto [stopped, fault] = std::from_chars(payload.data() + before_seq.size() + seq_key.size(), end, number);
    const bool whole = fault == std::errc() && stopped != end && *stopped == ',';
    return whole ? std::optional(PayloadNumbers::one(number)) : std::nullopt;
}

/// RFC 8949: the text "seq", then an unsigned integer of 1 to 9 bytes.
[[nodiscard]] inline std::optional<PayloadNumbers> cbor_numbers(std::string_view payload) {
    constexpr std::string_view key = "\x63seq";
    const std::size_t found = payload.find(key);
    if (found == std::string_view::npos || payload.size() == found + key.size()) {
        return std::nullopt;
    }
    const std::string_view number = payload.substr(found + key.size());
    const auto head = static_cast<unsigned char>(number.front());
    if (head < 24) {
        return PayloadNumbers::one(head);
    }
    const std::size_t bytes = std::size_t{1} << (head - 24U);
    if (head > 27 || number.size() <= bytes) {
        return std::nullopt;
    }
    return PayloadNumbers::one(load_big_endian(number.substr(1, bytes)));
}

[[nodiscard]] inline std::optional<PayloadNumbers> record_numbers(std::string_view payload) {
    constexpr std::size_t record_bytes = 64;
    constexpr std::size_t seq_offset = 16;
    if (payload.empty() || payload.size() % record_bytes != 0) {
        return std::nullopt;
    }
    PayloadNumbers numbers = PayloadNumbers::one(load_little_endian<std::uint64_t>(payload.data() + seq_offset));
    for (std::size_t at = record_bytes; at < payload.size(); at += record_bytes) {
        const std::uint64_t next = load_little_endian<std::uint64_t>(payload.data() + at + seq_offset);
        if (next <= numbers.last) {
            return std::nullopt;
        }
        numbers.last = next;
        ++numbers.count;
    }
    return numbers;
}

/// Returns nullopt if the payload has a different format.
using ReadPayloadNumbers = std::optional<PayloadNumbers> (*)(std::string_view payload);

/// Returns nullptr for an unknown format.
[[nodiscard]] inline ReadPayloadNumbers payload_reader(std::string_view format) {
    return format == "json"     ? json_numbers
           : format == "cbor"   ? cbor_numbers
           : format == "record" ? record_numbers
                                : nullptr;
}

/// Returns the number of the channel in a topic such as "load/c0042".
[[nodiscard]] inline std::optional<std::size_t> channel_in(std::string_view topic) {
    constexpr std::string_view prefix = "load/c";
    constexpr std::size_t digits = 4;
    std::size_t channel = 0;
    const char* const end = topic.data() + topic.size();
    if (topic.size() != prefix.size() + digits || !topic.starts_with(prefix) ||
        std::from_chars(end - digits, end, channel).ptr != end) {
        return std::nullopt;
    }
    return channel;
}

}  // namespace telegate::perf
