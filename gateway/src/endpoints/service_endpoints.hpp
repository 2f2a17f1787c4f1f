#pragma once

#include "core/endpoint.hpp"
#include "core/router.hpp"
#include "endpoints/publish_curve.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace telegate {

/// An endpoint where services are asked for.
struct ServiceEndpoint {
    Endpoint endpoint;
    std::string name = {};                               // of its section
    int adopted = -1;                                    // a socket that listens there already and now is ours
    std::shared_ptr<const CurveServer> curve = nullptr;  // null: the mechanism NULL
};

/// Where the router of the services listens, and whom it lets in there.
///
/// Threads: the reactor's, or any while nobody turns it.
/// Limits:  those of the settings.
/// Failure: the constructor and prepare() throw std::system_error when an address cannot be had.
class ServiceEndpoints {
  public:
    ServiceEndpoints(Router& router, std::span<const ServiceEndpoint> endpoints);

    /// What prepare() has found and bound.
    struct Prepared;
    /// As those of Publishers.
    [[nodiscard]] std::shared_ptr<Prepared> prepare(std::span<const ServiceEndpoint> endpoints);
    std::vector<std::string> roll_back(Prepared& prepared);
    void apply(Prepared& prepared, std::chrono::milliseconds grace);
    std::optional<std::size_t> renew(const NamedCurve& curve);

    /// As bound, in the order in which they were given.
    [[nodiscard]] std::vector<ServiceEndpoint> bound() const;
    /// The same as texts. Threads: any.
    [[nodiscard]] std::vector<std::string> urls() const;
    /// Peers that were closed because their key was among the clients' no more.
    [[nodiscard]] std::uint64_t revoked() const noexcept { return revoked_; }

  private:
    struct Bound {
        ServiceEndpoint wanted;  // as in the settings
        Endpoint as_bound;
    };

    [[nodiscard]] Endpoint bind(const ServiceEndpoint& wanted, Prepared& prepared);
    std::size_t change_curve(const Bound& before, const Bound& after, std::chrono::milliseconds grace);

    void note_urls();

    Router& router_;
    std::vector<Bound> bound_;
    mutable std::mutex mutex_;  // guards the texts
    std::vector<std::string> urls_;
    std::uint64_t revoked_ = 0;
};

}  // namespace telegate
