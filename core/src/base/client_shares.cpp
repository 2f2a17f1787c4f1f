#include "core/client_shares.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace telegate {

std::string client_of(std::string_view address) {
    constexpr std::string_view mapped = "::ffff:";
    if (address.starts_with(mapped) && address.find('.') != std::string_view::npos) {
        address.remove_prefix(mapped.size());
    }
    const std::string plain(address.substr(0, address.find('%')));  // without the interface of a link-local address
    in6_addr parsed{};
    if (plain.find(':') == std::string::npos || ::inet_pton(AF_INET6, plain.c_str(), &parsed) != 1) {
        return std::string(address);
    }
    constexpr std::size_t network_bytes = 8;
    std::fill(std::begin(parsed.s6_addr) + network_bytes, std::end(parsed.s6_addr), std::uint8_t{0});
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET6, &parsed, text.data(), text.size());
    return std::string(text.data()) + "/64";
}

void ClientShares::add(std::string_view client) {
    auto found = places_of_.find(client);
    if (found == places_of_.end()) {
        found = places_of_.emplace(client, 0).first;
    }
    ++found->second;
    ++places_;
}

void ClientShares::remove(std::string_view client) noexcept {
    const auto found = places_of_.find(client);
    if (found == places_of_.end()) {
        return;
    }
    --places_;
    if (--found->second == 0) {
        places_of_.erase(found);
    }
}

std::size_t ClientShares::of(std::string_view client) const noexcept {
    const auto found = places_of_.find(client);
    return found == places_of_.end() ? 0 : found->second;
}

ClientShares::Holder ClientShares::most() const noexcept {
    const auto found = std::max_element(places_of_.begin(), places_of_.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    return found == places_of_.end() ? Holder{} : Holder{found->first, found->second};
}

}  // namespace telegate
