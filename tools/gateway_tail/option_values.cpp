#include "option_values.hpp"

#include "sample_text.hpp"
#include "time_words.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

namespace telegate::tail {
namespace {

/// Parses an endpoint that may have a host name. The sockets accept addresses only.
std::variant<Endpoint, EndpointFault> parse_named(const std::string& text) {
    constexpr std::string_view scheme = "tcp://";
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    const std::size_t colon = text.rfind(':');
    if (!text.starts_with(scheme) || colon <= scheme.size()) {
        return parse_endpoint(text);
    }
    const std::string host = text.substr(scheme.size(), colon - scheme.size());
    const bool is_name = host.find_first_not_of(allowed) == std::string::npos &&
                         std::isalpha(static_cast<unsigned char>(host.front())) != 0;
    if (!is_name) {
        return parse_endpoint(text);
    }
    std::variant<Endpoint, EndpointFault> parsed = parse_endpoint("tcp://127.0.0.1" + text.substr(colon));
    if (auto* const endpoint = std::get_if<Endpoint>(&parsed)) {
        endpoint->host = host;
    }
    return parsed;
}

/// Endpoints that another process can connect to.
constexpr const char* endpoints_allowed =
    "tcp://HOST:PORT (HOST is a name or an address such as [::1], PORT is 1 to 65535), "
    "ipc://PATH or ipc://@NAME";

}  // namespace

Endpoint read_endpoint(const std::string& option, const std::string& text) {
    std::variant<Endpoint, EndpointFault> parsed = parse_named(text);
    if (const auto* const fault = std::get_if<EndpointFault>(&parsed)) {
        throw Refusal(option + ": invalid endpoint \"" + text + "\": must be " + endpoints_allowed);
    }
    Endpoint& endpoint = std::get<Endpoint>(parsed);
    if (is_any(endpoint) || endpoint.host == "*" || endpoint.transport == Transport::inproc) {
        throw Refusal(option + ": cannot connect to \"" + text + "\": must be " + endpoints_allowed);
    }
    return std::move(endpoint);
}

std::optional<std::chrono::milliseconds> read_duration(const std::string& option, const std::string& text) {
    if (text.empty()) {
        return std::nullopt;
    }
    const std::optional<std::chrono::milliseconds> duration = parse_duration(text);
    if (!duration) {
        throw Refusal(option + ": invalid duration \"" + text +
                      "\": must be a number with ms, s, m, h or d, at most 10000d");
    }
    return duration;
}

std::optional<std::uint64_t> read_count(const std::string& text) {
    constexpr std::uint64_t count_max = 1'000'000'000'000'000;
    if (text.empty()) {
        return std::nullopt;
    }
    std::uint64_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, count);
    if (error != std::errc() || rest != end || count == 0 || count > count_max) {
        throw Refusal("--count: invalid count \"" + text + "\": must be a whole number from 1 to " +
                      std::to_string(count_max));
    }
    return count;
}

void check_color(const std::string& color) {
    if (color != "auto" && color != "always" && color != "never") {
        throw Refusal("--color: invalid value \"" + color + "\": must be auto, always or never");
    }
}

void read_since(const std::string& text, TailOptions& options) {
    if (text.empty()) {
        return;
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    options.since_now_utc_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    if (const std::optional<std::chrono::milliseconds> age = parse_duration(text)) {
        options.since = std::to_string(age->count()) + "ms";
        options.since_utc_ns = options.since_now_utc_ns - std::chrono::nanoseconds(*age).count();
        return;
    }
    const std::optional<std::int64_t> time = parse_time(text);
    if (!time && is_year_out_of_range(text)) {
        throw Refusal("--since: time \"" + text + "\" is out of range: must be " + std::string(time_first) + " to " +
                      std::string(time_last));
    }
    if (!time) {
        throw Refusal("--since: invalid age or time \"" + text +
                      "\": must be a number with ms, s, m, h or d, or a time such as 2026-11-20T23:11:34Z with "
                      "up to nine decimals");
    }
    options.since_utc_ns = *time;
    append_time(options.since, *time, 9);
}

std::vector<std::string> read_prefixes(std::vector<std::string> prefixes) {
    constexpr std::size_t shown_bytes = 32;
    for (const std::string& prefix : prefixes) {
        if (prefix.size() > prefix_bytes_max) {
            throw Refusal("TOPIC: prefix is too long: \"" + prefix.substr(0, shown_bytes) + "\"... has " +
                          std::to_string(prefix.size()) + " bytes; must be at most " +
                          std::to_string(prefix_bytes_max));
        }
        if (!is_utf8(prefix)) {
            throw Refusal("TOPIC: invalid UTF-8 \"" + prefix + "\": must be the beginning of a topic, in UTF-8");
        }
    }
    return without_covered(std::move(prefixes));
}

}  // namespace telegate::tail
