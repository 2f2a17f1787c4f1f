#pragma once

#include "support/catch.hpp"
#include "support/raw_listener.hpp"
#include "support/raw_peer.hpp"

#include <optional>
#include <utility>

namespace telegate::test {

/// Runs the harness until it has connected to the listener. Returns the far end of that connection.
template <class Harness>
[[nodiscard]] RawPeer accepted(Harness& harness, RawListener& listener) {
    std::optional<RawPeer> peer;
    REQUIRE(harness.turn_until([&] {
        if (auto came = listener.accept()) {
            peer.emplace(std::move(*came));
        }
        return peer.has_value();
    }));
    return std::move(*peer);
}

}  // namespace telegate::test
