#pragma once

#include "core/clock.hpp"
#include "core/host_lookup.hpp"
#include "device/cancel_signal.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::network {

struct HostPort {
    std::string host;  // a name or numeric; IPv6 without brackets
    std::string port;
};

/// Parses HOST, HOST:PORT or [IPV6]:PORT; returns nullopt for other texts.
[[nodiscard]] std::optional<HostPort> parse_host_port(std::string_view text, std::string_view default_port);

/// Resolves a host to addresses, and waits for the result. A numeric address is resolved immediately.
///
/// Threads: one at a time.
/// Limits: those of HostLookup; one lookup at a time, so none starts while an earlier one is pending.
/// Failure: find() returns `timed_out`, `canceled`, or `ready` with an error text.
class HostFinder {
  public:
    struct Found {
        Woken woken = Woken::ready;
        std::vector<HostAddress> addresses = {};
        std::string what = {};  // error text with `ready` and no addresses
    };

    explicit HostFinder(HostPort wanted) : wanted_(std::move(wanted)) {}

    [[nodiscard]] Found find(const CancelSignal* cancel, MonoTime until);

  private:
    const HostPort wanted_;
    std::optional<HostLookup> lookup_;
};

}  // namespace telegate::network
