#include "uplink/nats_address.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace telegate::uplink {

std::optional<NatsAddress> parse_nats_url(std::string_view url) {
    NatsAddress address;
    address.has_tls = url.starts_with("tls://");
    const std::string_view scheme = address.has_tls ? "tls://" : "nats://";
    if (!url.starts_with(scheme)) {
        return std::nullopt;
    }
    std::string_view rest = url.substr(scheme.size());
    const bool is_bracketed = rest.starts_with('[');
    const std::size_t host_end = is_bracketed ? rest.find(']') : std::min(rest.find(':'), rest.size());
    if (host_end == std::string_view::npos) {
        return std::nullopt;
    }
    address.host = rest.substr(is_bracketed ? 1 : 0, host_end - (is_bracketed ? 1 : 0));
    rest.remove_prefix(host_end + (is_bracketed ? 1 : 0));
    if (rest.starts_with(':')) {
        address.port = rest.substr(1);
    } else if (!rest.empty()) {
        return std::nullopt;
    }
    const bool is_valid = parse_number<std::uint16_t>(address.port).value_or(0) > 0 && !address.host.empty() &&
                          address.host.find_first_of("/@?# ") == std::string::npos;
    return is_valid ? std::optional(std::move(address)) : std::nullopt;
}

bool is_nats_subject(std::string_view text) noexcept {
    const bool has_bad_bytes = std::any_of(text.begin(), text.end(), [](char each) {
        return static_cast<unsigned char>(each) <= 0x20 || each == '\x7F' || each == '*' || each == '>';
    });
    return !text.empty() && !has_bad_bytes && text.front() != '.' && text.back() != '.' &&
           text.find("..") == std::string_view::npos;
}

}  // namespace telegate::uplink
