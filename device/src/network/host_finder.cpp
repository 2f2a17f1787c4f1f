#include "network/host_finder.hpp"

#include "core/text.hpp"
#include "path_fault.hpp"

#include <netdb.h>
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

namespace telegate::network {
namespace {

constexpr std::size_t host_bytes_max = 253;  // of a DNS name

bool is_port(std::string_view text) noexcept {
    return parse_number<std::uint16_t>(text).value_or(0) != 0;
}

bool is_host(std::string_view text) noexcept {
    return !text.empty() && text.size() <= host_bytes_max &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%") ==
               std::string_view::npos;
}

}  // namespace

std::optional<HostPort> parse_host_port(std::string_view text, std::string_view default_port) {
    const bool bracketed = text.starts_with('[');
    const std::size_t host_end = bracketed ? text.find(']') : text.find(':');
    if (bracketed && host_end == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view host = bracketed ? text.substr(1, host_end - 1) : text.substr(0, host_end);
    const std::string_view rest = host_end == std::string_view::npos ? "" : text.substr(host_end + (bracketed ? 1 : 0));
    if (!is_host(host)) {
        return std::nullopt;
    }
    if (rest.empty()) {
        return HostPort{std::string(host), std::string(default_port)};
    }
    if (rest.front() != ':' || !is_port(rest.substr(1))) {
        return std::nullopt;
    }
    return HostPort{std::string(host), std::string(rest.substr(1))};
}

HostFinder::Found HostFinder::find(const CancelSignal* cancel, MonoTime until) {
    if (HostLookup::Result numeric = HostLookup::numeric(wanted_.host, wanted_.port); numeric.error == 0) {
        return {Woken::ready, std::move(numeric.addresses), {}};
    }
    if (!lookup_) {
        try {
            lookup_.emplace(wanted_.host, wanted_.port);
        } catch (const std::system_error& error) {
            return {Woken::ready, {}, error_words(error.code().value())};
        }
    }
    const Woken woken = wait_for(lookup_->descriptor(), POLLIN, cancel, until).woken;
    if (woken != Woken::ready) {
        return {woken, {}, {}};
    }
    HostLookup::Result result = lookup_->take_result();
    lookup_.reset();
    Found found{Woken::ready, std::move(result.addresses), {}};
    if (result.error != 0) {
        found.what = ::gai_strerror(result.error);
    } else if (found.addresses.empty()) {
        found.what = "no address found";
    }
    return found;
}

}  // namespace telegate::network
