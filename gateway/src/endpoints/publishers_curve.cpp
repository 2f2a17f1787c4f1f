#include "endpoints/publishers.hpp"

#include <algorithm>
#include <chrono>
#include <string>

// Whom an endpoint that stays bound lets in.

namespace telegate {

std::optional<std::size_t> Publishers::renew(const NamedCurve& curve) {
    const auto found =
        std::find_if(bound_.begin(), bound_.end(), [&](const Bound& each) { return each.wanted.name == curve.name; });
    if (found == bound_.end() || is_same(found->wanted.curve, curve.curve)) {
        return std::nullopt;
    }
    const Bound before = *found;
    found->wanted.curve = curve.curve;
    return change_curve(before, *found, std::chrono::milliseconds(0));
}

/// Of an endpoint that stays bound. Returns how many subscribers were closed for their keys.
std::size_t Publishers::change_curve(const Bound& before, const Bound& after, std::chrono::milliseconds grace) {
    if (is_same(before.wanted.curve, after.wanted.curve)) {
        return 0;
    }
    Publisher& publisher = publisher_of(after.wanted.format);
    publisher.set_security(after.as_bound, to_security(after.wanted.curve));
    if ((before.wanted.curve == nullptr) != (after.wanted.curve == nullptr)) {
        publisher.close_subscribers(after.as_bound, grace);
        return 0;
    }
    return revoke(after);
}

std::size_t Publishers::revoke(const Bound& bound) {
    const std::shared_ptr<const CurveClients>& clients = bound.wanted.curve->clients;
    if (clients == nullptr) {
        return 0;
    }
    Publisher& publisher = publisher_of(bound.wanted.format);
    const std::string at = to_string(bound.as_bound);
    std::size_t closed = 0;
    for (const PeerStatus& peer : publisher.subscribers()) {
        const std::optional<CurveKey> key = parse_z85(peer.curve_key);
        const bool may_stay = peer.endpoint != at || (key && clients->allows(*key));
        if (!may_stay && publisher.close_peer(peer.id, "its key is let in no more")) {
            ++closed;
        }
    }
    revoked_ += closed;
    return closed;
}

}  // namespace telegate
