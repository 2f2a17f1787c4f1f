#pragma once

#include "core/endpoint.hpp"
#include "core/router.hpp"
#include "endpoints/bound_endpoints.hpp"
#include "endpoints/publish_curve.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// An endpoint that accepts service requests.
struct ServiceEndpoint {
    Endpoint endpoint;
    std::string name = {};                               // of its section
    int adopted = -1;                                    // inherited listening socket; -1: none
    std::shared_ptr<const CurveServer> curve = nullptr;  // null: NULL mechanism
};

/// The interface of BoundEndpoints to the ROUTER socket of the services.
///
/// Threads, Limits, Failure: as BoundEndpoints.
class ServiceSockets {
  public:
    using Wanted = ServiceEndpoint;

    static constexpr const char* section = "services";

    explicit ServiceSockets(Router& router) noexcept : router_(&router) {}

    static bool share_socket(const Wanted& /*a*/, const Wanted& /*b*/) noexcept { return true; }
    void set_up(const Wanted& /*wanted*/, const Endpoint& /*at*/) noexcept {}
    Router& of(const Wanted& /*wanted*/) { return *router_; }
    void close_peers(const Wanted& /*wanted*/, const Endpoint& at, std::chrono::milliseconds grace) {
        router_->close_peers(at, grace);
    }
    std::vector<PeerStatus> peers(const Wanted& /*wanted*/) { return router_->peers(); }
    void change(const Wanted& /*before*/, const Wanted& /*after*/, const Endpoint& /*at*/) noexcept {}

  private:
    Router* router_;
};

/// The endpoints of the services' ROUTER socket: BoundEndpoints, plus their URLs for other threads.
///
/// Threads: the reactor's, or any while the reactor does not run.
/// Limits: those of the settings.
/// Failure: as BoundEndpoints.
class ServiceEndpoints {
  public:
    using Prepared = BoundEndpoints<ServiceSockets>::Prepared;

    ServiceEndpoints(Router& router, std::span<const ServiceEndpoint> endpoints);

    [[nodiscard]] std::shared_ptr<Prepared> prepare(std::span<const ServiceEndpoint> endpoints) {
        return bound_.prepare(endpoints);
    }
    std::vector<std::string> roll_back(Prepared& prepared);
    void apply(Prepared& prepared, std::chrono::milliseconds grace);
    std::optional<std::size_t> renew(const NamedCurve& curve) { return bound_.renew(curve); }

    /// Returns the endpoints as bound, in the order of the settings.
    [[nodiscard]] std::vector<ServiceEndpoint> bound() const;
    /// Returns the same endpoints as URLs. Threads: any.
    [[nodiscard]] std::vector<std::string> urls() const;
    [[nodiscard]] std::uint64_t revoked() const noexcept { return bound_.revoked(); }

  private:
    void record_urls();

    BoundEndpoints<ServiceSockets> bound_;
    mutable std::mutex mutex_;  // guards urls_
    std::vector<std::string> urls_;
};

}  // namespace telegate
