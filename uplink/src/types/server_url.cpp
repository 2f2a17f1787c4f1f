#include "uplink/server_url.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace telegate::uplink {
namespace {

/// A scheme and what it means.
struct Scheme {
    std::string_view prefix;
    std::string_view port;  // if the URL has none
    bool has_tls = false;
    bool has_path = false;
};

/// Characters of a path that need no escape, and % itself.
bool is_path(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
               std::string_view("/-._~%!$&'()*+,;=:@").find(each) != std::string_view::npos;
    });
}

std::optional<ServerUrl> parse(std::string_view url, const Scheme& scheme) {
    if (!url.starts_with(scheme.prefix)) {
        return std::nullopt;
    }
    std::string_view rest = url.substr(scheme.prefix.size());
    ServerUrl parsed{.host = "", .port = std::string(scheme.port), .has_tls = scheme.has_tls};
    if (const std::size_t slash = rest.find('/'); scheme.has_path && slash != std::string_view::npos) {
        parsed.path = rest.substr(slash);
        parsed.path.erase(parsed.path.find_last_not_of('/') + 1);
        rest = rest.substr(0, slash);
    }
    const bool is_bracketed = rest.starts_with('[');
    const std::size_t host_end = is_bracketed ? rest.find(']') : std::min(rest.find(':'), rest.size());
    if (host_end == std::string_view::npos) {
        return std::nullopt;
    }
    parsed.host = rest.substr(is_bracketed ? 1 : 0, host_end - (is_bracketed ? 1 : 0));
    rest.remove_prefix(host_end + (is_bracketed ? 1 : 0));
    if (rest.starts_with(':')) {
        parsed.port = rest.substr(1);
    } else if (!rest.empty()) {
        return std::nullopt;
    }
    const bool is_valid = parse_number<std::uint16_t>(parsed.port).value_or(0) > 0 && !parsed.host.empty() &&
                          parsed.host.find_first_of("/@?# ") == std::string::npos && is_path(parsed.path);
    return is_valid ? std::optional(std::move(parsed)) : std::nullopt;
}

std::optional<ServerUrl> parse(std::string_view url, const Scheme& plain, const Scheme& encrypted) {
    auto parsed = parse(url, plain);
    return parsed ? parsed : parse(url, encrypted);
}

}  // namespace

std::optional<ServerUrl> parse_nats_url(std::string_view url) {
    return parse(url, {"nats://", "4222"}, {"tls://", "4222", true});
}

std::optional<ServerUrl> parse_http_url(std::string_view url) {
    return parse(url, {"http://", "80", false, true}, {"https://", "443", true, true});
}

bool is_nats_subject(std::string_view text) noexcept {
    const bool has_bad_bytes = std::any_of(text.begin(), text.end(), [](char each) {
        return static_cast<unsigned char>(each) <= 0x20 || each == '\x7F' || each == '*' || each == '>';
    });
    return !text.empty() && !has_bad_bytes && text.front() != '.' && text.back() != '.' &&
           text.find("..") == std::string_view::npos;
}

}  // namespace telegate::uplink
