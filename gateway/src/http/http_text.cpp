#include "http/http_text.hpp"

#include "core/text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace telegate {
namespace {

bool is_number(const std::string& host, int family) {
    in6_addr address{};  // large enough for either family
    return ::inet_pton(family, host.c_str(), &address) == 1;
}

/// Removes the text before `mark`, and the mark, from the front and returns the text. A mark in quotes does not count.
std::string_view take_part(std::string_view& text, char mark) noexcept {
    bool is_quoted = false;
    std::size_t end = 0;
    while (end < text.size() && (is_quoted || text[end] != mark)) {
        is_quoted = is_quoted != (text[end] == '"');
        end += is_quoted && text[end] == '\\' ? 2U : 1U;
    }
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return trimmed(part);
}

/// Returns the value of a parameter, which may be in quotes.
std::string_view value_of(std::string_view parameter) noexcept {
    std::string_view value = trimmed(parameter);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
    }
    return value;
}

/// A parsed media range such as "text/plain; version=0.0.4".
struct MediaRange {
    explicit MediaRange(std::string_view text) noexcept {
        name = take_part(text, ';');
        while (!text.empty()) {
            std::string_view parameter = take_part(text, ';');
            const std::string_view key = take_part(parameter, '=');
            if (equal_ignoring_case(key, "version")) {
                version = value_of(parameter);
            } else if (equal_ignoring_case(key, "q")) {
                parameter = value_of(parameter);
                std::from_chars(parameter.data(), parameter.data() + parameter.size(), weight);
            }
        }
    }

    /// Returns how precisely the range matches a type; 0 means not at all.
    [[nodiscard]] int precision_for(const MediaRange& type) const noexcept {
        if (name == "*/*") {
            return 1;
        }
        const std::size_t slash = name.find('/');
        if (slash != std::string_view::npos && name.substr(slash) == "/*") {
            return equal_ignoring_case(name.substr(0, slash), type.name.substr(0, type.name.find('/'))) ? 2 : 0;
        }
        const bool other_version = !version.empty() && !type.version.empty() && version != type.version;
        return equal_ignoring_case(name, type.name) && !other_version ? 3 : 0;
    }

    std::string_view name;
    std::string_view version;
    double weight = 1.0;
};

/// Returns the weight of the type in the field; the most precise range decides.
double weight_of(std::string_view accept, std::string_view type_text) noexcept {
    const MediaRange type(type_text);
    int precision = 0;
    double weight = 0.0;
    while (!accept.empty()) {
        const MediaRange range(take_part(accept, ','));
        if (const int found = range.precision_for(type); found > precision) {
            precision = found;
            weight = range.weight;
        }
    }
    return weight;
}

}  // namespace

std::string percent_decoded(std::string_view text, bool is_query) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned code = 0;
        const char* const digits = text.data() + at + 1;
        if (text[at] == '%' && at + 2 < text.size() &&
            std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
            result += static_cast<char>(code);
            at += 2;
        } else {
            result += text[at] == '+' && is_query ? ' ' : text[at];
        }
    }
    return result;
}

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "::1" || (host.starts_with("127.") && is_number(host, AF_INET));
}

bool is_local_name(std::string_view host) {
    const bool bracketed = host.starts_with('[');
    const std::size_t end = bracketed ? host.find(']') : host.find(':');
    const std::string name(
        host.substr(bracketed ? 1 : 0, end == std::string_view::npos ? end : end - (bracketed ? 1 : 0)));
    std::string_view port = end == std::string_view::npos ? std::string_view() : host.substr(end + (bracketed ? 1 : 0));
    const bool right_end = port.empty() ? !bracketed || end != std::string_view::npos
                                        : port.front() == ':' && std::all_of(port.begin() + 1, port.end(), [](char c) {
                                              return c >= '0' && c <= '9';
                                          });
    return right_end &&
           (bracketed ? is_number(name, AF_INET6) : equal_ignoring_case(name, "localhost") || is_number(name, AF_INET));
}

std::optional<std::size_t> preferred_type(std::string_view accept, std::span<const std::string_view> given) noexcept {
    if (trimmed(accept).empty()) {
        return 0;
    }
    std::optional<std::size_t> best;
    double best_weight = 0.0;
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (const double weight = weight_of(accept, given[i]); weight > best_weight) {
            best_weight = weight;
            best = i;
        }
    }
    return best;
}

bool is_media_type(std::string_view content_type, std::string_view type) noexcept {
    return equal_ignoring_case(MediaRange(content_type).name, type);
}

}  // namespace telegate
