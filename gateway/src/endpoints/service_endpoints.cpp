#include "endpoints/service_endpoints.hpp"

#include "base/setting_failure.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace telegate {
namespace {

/// Whose failure names the setting.
Endpoint bind_service(const ServiceEndpoint& wanted, Router& router) {
    return get_for("[services \"" + wanted.name + "\"] endpoint", wanted.endpoint.path, [&] {
        const Security security = to_security(wanted.curve);
        return wanted.adopted < 0 ? router.bind(wanted.endpoint, security)
                                  : router.bind_adopted(wanted.endpoint, wanted.adopted, security);
    });
}

}  // namespace

/// Threads, Limits: as ServiceEndpoints. Failure: none.
struct ServiceEndpoints::Prepared {
    struct Leaving {
        Bound bound;
        bool is_unbound = false;  // already, since it was in the way
    };
    std::vector<Bound> next;  // all endpoints, in their order
    std::vector<Bound> fresh;
    std::vector<Leaving> leaving;
};

ServiceEndpoints::ServiceEndpoints(Router& router, std::span<const ServiceEndpoint> endpoints) : router_(router) {
    for (const ServiceEndpoint& wanted : endpoints) {
        bound_.push_back({wanted, bind_service(wanted, router_)});
        bound_.back().wanted.adopted = -1;  // the router has it
    }
    note_urls();
}

std::shared_ptr<ServiceEndpoints::Prepared> ServiceEndpoints::prepare(std::span<const ServiceEndpoint> endpoints) {
    auto prepared = std::make_shared<Prepared>();
    const Endpoint not_bound{};
    std::vector<Bound> left = bound_;
    for (const ServiceEndpoint& wanted : endpoints) {
        const auto known = std::find_if(left.begin(), left.end(), [&](const Bound& old) {
            return old.wanted.name == wanted.name && old.wanted.endpoint == wanted.endpoint;
        });
        prepared->next.push_back({wanted, known == left.end() ? not_bound : known->as_bound});
        if (known != left.end()) {
            left.erase(known);
        }
    }
    for (Bound& old : left) {
        prepared->leaving.push_back({std::move(old)});
    }
    try {
        for (Bound& each : prepared->next) {
            if (each.as_bound == not_bound) {
                each.as_bound = bind(each.wanted, *prepared);
                prepared->fresh.push_back(each);
            }
        }
    } catch (const std::exception& error) {
        const std::vector<std::string> lost = roll_back(*prepared);
        if (lost.empty()) {
            throw;
        }
        throw std::runtime_error(std::string(error.what()) + "; no longer bound either: " + lost.front());
    }
    return prepared;
}

Endpoint ServiceEndpoints::bind(const ServiceEndpoint& wanted, Prepared& prepared) {
    for (Prepared::Leaving& each : prepared.leaving) {
        if (!each.is_unbound && may_conflict(each.bound.as_bound, wanted.endpoint)) {
            each.is_unbound = true;
            router_.unbind(each.bound.as_bound);
        }
    }
    return bind_service(wanted, router_);
}

std::vector<std::string> ServiceEndpoints::roll_back(Prepared& prepared) {
    for (const Bound& each : std::exchange(prepared.fresh, {})) {
        router_.unbind(each.as_bound);
        router_.close_peers(each.as_bound, std::chrono::milliseconds(0));
    }
    std::vector<std::string> lost;
    for (const Prepared::Leaving& each : std::exchange(prepared.leaving, {})) {
        if (!each.is_unbound) {
            continue;
        }
        try {
            router_.bind(each.bound.as_bound, to_security(each.bound.wanted.curve));
        } catch (const std::exception& error) {
            lost.push_back(to_string(each.bound.as_bound) + ": " + error.what());
            std::erase_if(bound_, [&](const Bound& old) { return old.as_bound == each.bound.as_bound; });
        }
    }
    note_urls();
    return lost;
}

void ServiceEndpoints::apply(Prepared& prepared, std::chrono::milliseconds grace) {
    for (const Prepared::Leaving& each : std::exchange(prepared.leaving, {})) {
        if (!each.is_unbound) {
            router_.unbind(each.bound.as_bound);
        }
        router_.close_peers(each.bound.as_bound, grace);
    }
    for (const Bound& after : prepared.next) {
        const auto before = std::find_if(bound_.begin(), bound_.end(),
                                         [&](const Bound& old) { return old.as_bound == after.as_bound; });
        if (before != bound_.end()) {
            change_curve(*before, after, grace);
        }
    }
    prepared.fresh.clear();
    bound_ = std::move(prepared.next);
    note_urls();
}

std::optional<std::size_t> ServiceEndpoints::renew(const NamedCurve& curve) {
    const auto found =
        std::find_if(bound_.begin(), bound_.end(), [&](const Bound& each) { return each.wanted.name == curve.name; });
    if (found == bound_.end() || is_same(found->wanted.curve, curve.curve)) {
        return std::nullopt;
    }
    const Bound before = *found;
    found->wanted.curve = curve.curve;
    return change_curve(before, *found, std::chrono::milliseconds(0));
}

/// Of an endpoint that stays bound. Returns how many peers were closed for their keys.
std::size_t ServiceEndpoints::change_curve(const Bound& before, const Bound& after, std::chrono::milliseconds grace) {
    if (is_same(before.wanted.curve, after.wanted.curve)) {
        return 0;
    }
    router_.set_security(after.as_bound, to_security(after.wanted.curve));
    if ((before.wanted.curve == nullptr) != (after.wanted.curve == nullptr)) {
        router_.close_peers(after.as_bound, grace);
        return 0;
    }
    const std::shared_ptr<const CurveClients>& clients = after.wanted.curve->clients;
    const std::string at = to_string(after.as_bound);
    std::size_t closed = 0;
    for (const PeerStatus& peer : clients == nullptr ? std::vector<PeerStatus>() : router_.peers()) {
        const std::optional<CurveKey> key = parse_z85(peer.curve_key);
        const bool may_stay = peer.endpoint != at || (key && clients->allows(*key));
        if (!may_stay && router_.close_peer(peer.id, "its key is let in no more")) {
            ++closed;
        }
    }
    revoked_ += closed;
    return closed;
}

void ServiceEndpoints::note_urls() {
    const std::lock_guard lock(mutex_);
    urls_.clear();
    for (const Bound& each : bound_) {
        urls_.push_back(to_string(each.as_bound));
    }
}

std::vector<std::string> ServiceEndpoints::urls() const {
    const std::lock_guard lock(mutex_);
    return urls_;
}

std::vector<ServiceEndpoint> ServiceEndpoints::bound() const {
    std::vector<ServiceEndpoint> result;
    for (const Bound& each : bound_) {
        result.push_back({each.as_bound, each.wanted.name, -1, each.wanted.curve});
    }
    return result;
}

}  // namespace telegate
