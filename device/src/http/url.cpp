#include "http/url.hpp"
#include "core/text.hpp"
#include "device/option_error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace telegate::http {
namespace {

struct Scheme {
    std::string_view prefix;
    std::string_view port;
    bool is_tls;
};

constexpr std::array schemes{Scheme{"http://", "80", false}, Scheme{"https://", "443", true}};

/// Returns whether `text` begins with the prefix, in any case.
bool has_prefix(std::string_view text, std::string_view prefix) noexcept {
    return equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

bool is_target_character(char c) noexcept {
    return c > ' ' && c < '\x7f' && c != '#';
}

std::optional<Url> parse(std::string_view text) {
    const auto* const scheme =
        std::find_if(schemes.begin(), schemes.end(), [&](const Scheme& each) { return has_prefix(text, each.prefix); });
    if (scheme == schemes.end() || !std::all_of(text.begin(), text.end(), is_target_character)) {
        return std::nullopt;
    }
    const std::string_view shown = text.substr(0, text.find('?'));
    text.remove_prefix(scheme->prefix.size());
    const std::size_t authority_end = std::min(text.find_first_of("/?"), text.size());
    auto server = network::parse_host_port(text.substr(0, authority_end), scheme->port);
    if (!server) {
        return std::nullopt;
    }
    std::string target(text.substr(authority_end));
    if (!target.starts_with('/')) {
        target.insert(0, 1, '/');
    }
    return Url{scheme->is_tls, *std::move(server), std::move(target), std::string(shown)};
}

}  // namespace

Url parse_url(std::string_view text) {
    if (auto url = parse(text)) {
        return *std::move(url);
    }
    throw OptionError("url", "invalid URL: \"" + std::string(text) +
                                 "\"; must be http://HOST[:PORT][/PATH][?QUERY] or https://..., without "
                                 "spaces, user name or fragment");
}

}  // namespace telegate::http
