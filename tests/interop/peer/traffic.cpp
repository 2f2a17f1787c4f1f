#include "interop/peer/traffic.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace telegate::test {
namespace {

constexpr std::size_t seq_bytes = 8;
constexpr std::uint64_t fill_values = 251;

/// Returns the number of a payload that was made by make_payload().
std::optional<std::uint64_t> seq_of(std::string_view payload) {
    if (payload.size() < seq_bytes) {
        return std::nullopt;
    }
    std::uint64_t seq = 0;
    for (const char byte : payload.substr(0, seq_bytes)) {
        seq = seq << 8 | static_cast<unsigned char>(byte);
    }
    const std::string_view fill = payload.substr(seq_bytes);
    if (!fill.empty() && (static_cast<unsigned char>(fill.front()) != seq % fill_values ||
                          std::memcmp(fill.data(), fill.data() + 1, fill.size() - 1) != 0)) {
        return std::nullopt;
    }
    return seq;
}

}  // namespace

void make_payload(std::uint64_t seq, std::size_t bytes, std::string& payload) {
    payload.assign(bytes, static_cast<char>(seq % fill_values));
    for (std::size_t index = 0; index < seq_bytes; ++index) {
        payload[seq_bytes - 1 - index] = static_cast<char>(seq >> (8 * index) & 0xFF);
    }
}

void add_counts(TrafficCounts& sum, const TrafficCounts& counts) noexcept {
    sum.messages += counts.messages;
    sum.frames += counts.frames;
    sum.bytes += counts.bytes;
    sum.damaged += counts.damaged;
    sum.missing += counts.missing;
    sum.repeated += counts.repeated;
    sum.streams += counts.streams;
    sum.last_seq = std::max(sum.last_seq, counts.last_seq);
}

void TrafficCheck::add(const std::string& stream, const Message& message) {
    ++counts_.messages;
    counts_.frames += message.size();
    for (const Bytes frame : message) {
        counts_.bytes += frame.size();
    }
    const std::optional<std::uint64_t> seq = seq_of(message.text(message.size() - 1));
    if (!seq) {
        ++counts_.damaged;
        return;
    }
    const auto [place, is_first] = last_seq_.try_emplace(stream, *seq);
    if (!is_first && *seq <= place->second) {
        ++counts_.repeated;
    } else if (!is_first) {
        counts_.missing += *seq - place->second - 1;
    }
    place->second = *seq;
    counts_.last_seq = *seq;
}

TrafficCounts TrafficCheck::counts() const noexcept {
    TrafficCounts counts = counts_;
    counts.streams = last_seq_.size();
    return counts;
}

}  // namespace telegate::test
