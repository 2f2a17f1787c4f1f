#include "payload_numbers.hpp"

#include "core/endian.hpp"

#include <array>
#include <charconv>
#include <string>
#include <system_error>

namespace telegate::perf {

namespace {

constexpr std::string_view topic_begin = "load/c";
constexpr std::size_t channel_digits = 4;

// docs/wire.md: keys come in one order, and the names of all channels are of one length.
constexpr std::string_view json_before_epoch = R"({"device":"load","channel":"c0000","epoch":)";
constexpr std::string_view json_seq_key = R"(,"seq":)";
constexpr std::size_t epoch_digits = 13;  // milliseconds since 1970, from 2001 to 2286

std::optional<PayloadNumbers> json_numbers(std::string_view payload) {
    constexpr std::size_t key = json_before_epoch.size() + epoch_digits;
    if (payload.size() <= key || !payload.substr(key).starts_with(json_seq_key)) {
        return std::nullopt;
    }
    const char* const begin = payload.data() + key + json_seq_key.size();
    const char* const end = payload.data() + payload.size();
    std::uint64_t number = 0;
    const auto [stopped, fault] = std::from_chars(begin, end, number);
    const bool whole = fault == std::errc() && stopped != end && *stopped == ',';
    return whole ? std::optional(PayloadNumbers::one(number)) : std::nullopt;
}

/// RFC 8949: the text "seq", then an unsigned integer in 1 to 9 bytes.
std::optional<PayloadNumbers> cbor_numbers(std::string_view payload) {
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

std::optional<PayloadNumbers> record_numbers(std::string_view payload) {
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

struct Format {
    std::string_view name;
    ReadPayloadNumbers read;
};
constexpr std::array<Format, 3> formats{{{"json", json_numbers}, {"cbor", cbor_numbers}, {"record", record_numbers}}};

}  // namespace

ReadPayloadNumbers payload_reader(std::string_view format) {
    for (const Format& known : formats) {
        if (known.name == format) {
            return known.read;
        }
    }
    return nullptr;
}

std::optional<std::size_t> channel_in(std::string_view topic) {
    std::size_t channel = 0;
    if (topic.size() != topic_begin.size() + channel_digits || !topic.starts_with(topic_begin)) {
        return std::nullopt;
    }
    for (const char digit : topic.substr(topic_begin.size())) {
        if (digit < '0' || digit > '9') {
            return std::nullopt;
        }
        channel = 10 * channel + static_cast<std::size_t>(digit - '0');
    }
    return channel;
}

}  // namespace telegate::perf
