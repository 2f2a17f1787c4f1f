#pragma once

#include "base/setting_failure.hpp"
#include "core/curve.hpp"
#include "core/endpoint.hpp"
#include "core/monitor.hpp"
#include "endpoints/publish_curve.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

/// The bound endpoints of one kind of section, which can change while the gateway runs: prepare() contains everything
/// that can fail and can be rolled back; apply() cannot fail.
///
/// `Sockets` is the interface to the sockets. `Wanted` is an endpoint from the settings, with endpoint, name, adopted
/// and curve:
///
///     using Wanted = ...;
///     static constexpr const char* section = ...;                // of the settings
///     static bool share_socket(const Wanted&, const Wanted&);
///     Router& of(const Wanted&);                                 // or Publisher&
///     void set_up(const Wanted&, const Endpoint& as_bound);      // called after it was bound
///     void close_peers(const Wanted&, const Endpoint& as_bound, std::chrono::milliseconds grace);
///     std::vector<PeerStatus> peers(const Wanted&);
///     void change(const Wanted& before, const Wanted& after, const Endpoint& as_bound);  // endpoint stays bound
///
/// Threads: the reactor's, or any while the reactor does not run.
/// Limits: those of the settings.
/// Failure: bind() and prepare() throw std::system_error if an address cannot be bound.
template <class Sockets>
class BoundEndpoints {
  public:
    using Wanted = typename Sockets::Wanted;
    struct Bound {
        Wanted wanted;
        Endpoint as_bound;
    };
    /// The result of prepare().
    struct Prepared {
        struct Leaving {
            Bound bound;
            bool is_unbound = false;  // prepare() unbound it because it conflicted with a new endpoint
        };
        std::vector<Bound> next;  // all endpoints, in the order of the settings
        std::vector<Bound> fresh;
        std::vector<Leaving> leaving;
    };

    explicit BoundEndpoints(Sockets sockets) : sockets_(std::move(sockets)) {}

    /// Binds the initial endpoints.
    void bind(std::span<const Wanted> endpoints) {
        for (const Wanted& wanted : endpoints) {
            bound_.push_back({wanted, bind_one(wanted)});
            bound_.back().wanted.adopted = -1;  // the socket now owns it
        }
    }

    /// Binds only new endpoints. Endpoints that stay the same for peers are not touched, regardless of their order, and
    /// keep their port if it was set as 0. An endpoint that is to be removed and conflicts with a new one is unbound
    /// here, but its peers stay connected. If prepare() throws, everything is as before.
    [[nodiscard]] std::shared_ptr<Prepared> prepare(std::span<const Wanted> endpoints) {
        auto prepared = std::make_shared<Prepared>();
        for (const Wanted& wanted : endpoints) {
            prepared->next.push_back({wanted, not_bound()});
        }
        for (Bound& old : match(prepared->next)) {
            prepared->leaving.push_back({std::move(old)});
        }
        try {
            for (Bound& each : prepared->next) {
                if (each.as_bound == not_bound()) {
                    each.as_bound = bind_new(each.wanted, *prepared);
                    prepared->fresh.push_back(each);
                }
            }
        } catch (const std::exception& error) {
            const std::vector<std::string> lost = roll_back(*prepared);
            if (lost.empty()) {
                throw;
            }
            throw std::runtime_error(std::string(error.what()) + "; also no longer bound: " + lost.front());
        }
        return prepared;
    }

    /// Restores the state from before prepare(). Returns endpoints that could not be bound again and are now removed.
    std::vector<std::string> roll_back(Prepared& prepared) {
        for (const Bound& each : std::exchange(prepared.fresh, {})) {
            sockets_.of(each.wanted).unbind(each.as_bound);
            sockets_.close_peers(each.wanted, each.as_bound, std::chrono::milliseconds(0));
        }
        std::vector<std::string> lost;
        for (const typename Prepared::Leaving& each : std::exchange(prepared.leaving, {})) {
            if (!each.is_unbound) {
                continue;
            }
            try {
                const Wanted& wanted = each.bound.wanted;
                sockets_.of(wanted).bind(each.bound.as_bound, to_security(wanted.curve));
                sockets_.set_up(wanted, each.bound.as_bound);
            } catch (const std::exception& error) {
                lost.push_back(to_string(each.bound.as_bound) + ": " + error.what());
                std::erase_if(bound_, [&](const Bound& old) { return old.as_bound == each.bound.as_bound; });
            }
        }
        return lost;
    }

    /// Puts the prepared endpoints in force. Peers of endpoints that were removed or whose mechanism changed may
    /// receive pending messages for `grace`. CURVE keys and clients change as in renew().
    void apply(Prepared& prepared, std::chrono::milliseconds grace) {
        for (const typename Prepared::Leaving& each : std::exchange(prepared.leaving, {})) {
            if (!each.is_unbound) {
                sockets_.of(each.bound.wanted).unbind(each.bound.as_bound);
            }
            sockets_.close_peers(each.bound.wanted, each.bound.as_bound, grace);
        }
        for (const Bound& after : prepared.next) {
            const auto before = std::find_if(bound_.begin(), bound_.end(), [&](const Bound& old) {
                return Sockets::share_socket(old.wanted, after.wanted) && old.as_bound == after.as_bound;
            });
            if (before != bound_.end()) {
                change_curve(before->wanted.curve, after, grace);
                sockets_.change(before->wanted, after.wanted, after.as_bound);
            }
        }
        prepared.fresh.clear();
        bound_ = std::move(prepared.next);
    }

    /// Changes the keys or clients of the endpoint of a section if they differ. They apply to new connections;
    /// connected peers whose key is no longer allowed are closed and counted. Returns the number of closed peers;
    /// nullopt: nothing changed.
    std::optional<std::size_t> renew(const NamedCurve& curve) {
        const auto found = std::find_if(bound_.begin(), bound_.end(),
                                        [&](const Bound& each) { return each.wanted.name == curve.name; });
        if (found == bound_.end() || is_same(found->wanted.curve, curve.curve)) {
            return std::nullopt;
        }
        const auto before = std::exchange(found->wanted.curve, curve.curve);
        return change_curve(before, *found, std::chrono::milliseconds(0));
    }

    /// Returns the endpoints in the order of the settings.
    [[nodiscard]] const std::vector<Bound>& all() const noexcept { return bound_; }
    /// Returns the number of peers closed because their key was no longer allowed.
    [[nodiscard]] std::uint64_t revoked() const noexcept { return revoked_; }

  private:
    static Endpoint not_bound() { return {}; }

    /// Assigns bound endpoints to the next endpoints, and returns those that match none. Matches by the same name and
    /// address first, then by the same address, then by the address as bound.
    [[nodiscard]] std::vector<Bound> match(std::vector<Bound>& next) const {
        std::vector<Bound> left = bound_;
        std::vector<bool> found(next.size(), false);
        const auto take = [&](auto is_same_endpoint) {
            for (std::size_t i = 0; i < next.size(); ++i) {
                const auto known = std::find_if(left.begin(), left.end(), [&](const Bound& old) {
                    return Sockets::share_socket(old.wanted, next[i].wanted) && is_same_endpoint(old, next[i].wanted);
                });
                if (!found[i] && known != left.end()) {
                    found[i] = true;
                    next[i].as_bound = known->as_bound;
                    left.erase(known);
                }
            }
        };
        take([](const Bound& old, const Wanted& wanted) {
            return old.wanted.name == wanted.name && old.wanted.endpoint == wanted.endpoint;
        });
        take([](const Bound& old, const Wanted& wanted) {
            return old.wanted.endpoint == wanted.endpoint && !is_any(wanted.endpoint);
        });
        take([](const Bound& old, const Wanted& wanted) { return old.as_bound == wanted.endpoint; });
        return left;
    }

    Endpoint bind_one(const Wanted& wanted) {
        const std::string setting = std::string("[") + Sockets::section + " \"" + wanted.name + "\"] endpoint";
        return get_for(setting, wanted.endpoint.path, [&] {
            auto& socket = sockets_.of(wanted);
            const Security security = to_security(wanted.curve);
            Endpoint bound = wanted.adopted < 0 ? socket.bind(wanted.endpoint, security)
                                                : socket.bind_adopted(wanted.endpoint, wanted.adopted, security);
            sockets_.set_up(wanted, bound);  // no connection is accepted before the next iteration
            return bound;
        });
    }

    Endpoint bind_new(const Wanted& wanted, Prepared& prepared) {
        for (typename Prepared::Leaving& each : prepared.leaving) {
            if (!each.is_unbound && may_conflict(each.bound.as_bound, wanted.endpoint)) {
                each.is_unbound = true;
                sockets_.of(each.bound.wanted).unbind(each.bound.as_bound);
            }
        }
        return bind_one(wanted);
    }

    /// Changes the CURVE settings of an endpoint that stays bound. Returns the number of peers closed for their keys.
    std::size_t change_curve(const std::shared_ptr<const CurveServer>& before, const Bound& after,
                             std::chrono::milliseconds grace) {
        if (is_same(before, after.wanted.curve)) {
            return 0;
        }
        sockets_.of(after.wanted).set_security(after.as_bound, to_security(after.wanted.curve));
        if ((before == nullptr) != (after.wanted.curve == nullptr)) {
            sockets_.close_peers(after.wanted, after.as_bound, grace);
            return 0;
        }
        return revoke(after);
    }

    std::size_t revoke(const Bound& bound) {
        const std::shared_ptr<const CurveClients>& clients = bound.wanted.curve->clients;
        if (clients == nullptr) {
            return 0;
        }
        const std::string at = to_string(bound.as_bound);
        std::size_t closed = 0;
        for (const PeerStatus& peer : sockets_.peers(bound.wanted)) {
            const bool may_stay = peer.endpoint != at || (peer.curve_key && clients->allows(*peer.curve_key));
            if (!may_stay && sockets_.of(bound.wanted).close_peer(peer.id, "client key no longer allowed")) {
                ++closed;
            }
        }
        revoked_ += closed;
        return closed;
    }

    Sockets sockets_;
    std::vector<Bound> bound_;
    std::uint64_t revoked_ = 0;
};

}  // namespace telegate
