#include "time_range.hpp"

#include "encode/time_text.hpp"
#include "gateway_tail/time_words.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace telegate::log_tool {
namespace {

/// Parses "+02:00".
std::optional<std::chrono::minutes> parse_offset(std::string_view text) {
    const auto digit = [&](std::size_t at) {
        return text[at] >= '0' && text[at] <= '9' ? text[at] - '0' : 99;
    };
    if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') {
        return std::nullopt;
    }
    const int hours = digit(1) * 10 + digit(2);
    const int minutes = digit(4) * 10 + digit(5);
    if (hours > 23 || minutes > 59) {
        return std::nullopt;
    }
    return std::chrono::minutes((hours * 60 + minutes) * (text[0] == '-' ? -1 : 1));
}

}  // namespace

std::optional<std::int64_t> parse_age_or_time(std::string_view text, std::int64_t now_ns) {
    constexpr std::size_t offset_bytes = 6;
    constexpr std::size_t separator_at = 10;
    if (const auto age = tail::parse_duration(text)) {
        return now_ns - std::chrono::nanoseconds(*age).count();
    }
    std::string time(text);
    if (time.size() <= separator_at + offset_bytes) {
        return std::nullopt;
    }
    std::chrono::minutes offset{0};
    if (const auto given = parse_offset(text.substr(text.size() - offset_bytes))) {
        offset = *given;
        time.replace(time.size() - offset_bytes, offset_bytes, "Z");
    }
    if (time[separator_at] == 't' || time[separator_at] == ' ') {
        time[separator_at] = 'T';
    }
    if (time.back() == 'z') {
        time.back() = 'Z';
    }
    const auto local = parse_iso8601(time);
    return local ? std::optional(*local - std::chrono::nanoseconds(offset).count()) : std::nullopt;
}

std::int64_t epoch_start_ns(std::int64_t epoch_ms) noexcept {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / ns_per_ms;
    return std::clamp(epoch_ms, -limit, limit) * ns_per_ms;
}

std::string time_text(std::int64_t utc_ns, unsigned decimals) {
    std::string text;
    tail::append_time(text, utc_ns, decimals);
    return text;
}

}  // namespace telegate::log_tool
