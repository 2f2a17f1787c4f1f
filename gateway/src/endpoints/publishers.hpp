#pragma once

#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "endpoints/bound_endpoints.hpp"
#include "endpoints/format_endpoint.hpp"
#include "endpoints/publish_curve.hpp"
#include "publish/format_publisher.hpp"
#include "publish/subscriber_status.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

class Publishers;

/// How BoundEndpoints uses the publishers.
///
/// Threads, Limits, Failure: as BoundEndpoints.
class PublishSockets {
  public:
    using Wanted = FormatEndpoint;

    explicit PublishSockets(Publishers& publishers) noexcept : publishers_(&publishers) {}

    static bool share_socket(const Wanted& a, const Wanted& b) noexcept { return a.format == b.format; }
    Endpoint bind(const Wanted& wanted);
    void bind_again(const Wanted& wanted, const Endpoint& at);
    void unbind(const Wanted& wanted, const Endpoint& at);
    void close_peers(const Wanted& wanted, const Endpoint& at, std::chrono::milliseconds grace);
    void set_security(const Wanted& wanted, const Endpoint& at, const Security& security);
    std::vector<PeerStatus> peers(const Wanted& wanted);
    bool close_peer(const Wanted& wanted, std::uint64_t id, std::string_view why);
    void change(const Wanted& before, const Wanted& after, const Endpoint& at);

  private:
    [[nodiscard]] Publisher& of(const Wanted& wanted) const noexcept;

    Publishers* publishers_;
};

/// The gateway's publishers: one for each format that some endpoint has, with a log and subscriptions of its own. One
/// that has been made stays, with its counts, when its last endpoint has gone.
///
/// Threads: the reactor's, or any while nobody turns it.
/// Limits:  those of a publisher, for each format; of connections each has an equal share of `connections_max` at most,
///          by the formats that there are when it is made: those before keep theirs. Where that is more than there are
///          descriptors, connections are not accepted, and counted so.
///          Samples lie in pieces of a quarter of the smallest `backlog_bytes` that a format has when it is made, 16
///          to 260 KiB; a smaller one later counts as four such pieces.
/// Failure: the constructor and prepare() throw std::system_error when an address cannot be had.
class Publishers {
  public:
    /// Who hears of what happens; either may be empty.
    struct Hooks {
        std::function<void(PayloadFormat, const MonitorEvent&)> monitor;
        std::function<LossHooks(PayloadFormat)> losses;  // asked for once for each format
    };
    Publishers(Reactor& reactor, std::span<const FormatEndpoint> endpoints, std::size_t connections_max, Hooks hooks);

    using Prepared = BoundEndpoints<PublishSockets>::Prepared;
    /// These are those of BoundEndpoints; prepare() makes the publishers of new formats.
    [[nodiscard]] std::shared_ptr<Prepared> prepare(std::span<const FormatEndpoint> endpoints);
    std::vector<std::string> roll_back(Prepared& prepared) { return bound_.roll_back(prepared); }
    void apply(Prepared& prepared, std::chrono::milliseconds grace) { bound_.apply(prepared, grace); }
    std::optional<std::size_t> renew(const NamedCurve& curve) { return bound_.renew(curve); }

    /// For the pump: formats that have an endpoint.
    [[nodiscard]] std::vector<FormatPublisher> by_format() const;
    /// As bound, in the order in which they were given.
    [[nodiscard]] std::vector<FormatEndpoint> endpoints() const;
    /// Those of one format after those of another.
    [[nodiscard]] std::vector<SubscriberStatus> subscribers() const;
    [[nodiscard]] PublisherTotals totals() const;
    [[nodiscard]] std::vector<FormatTotals> totals_by_format() const;
    [[nodiscard]] std::uint64_t revoked() const noexcept { return bound_.revoked(); }

    /// As Publisher::close_peer(), by the number of SubscriberStatus.
    bool close_peer(PayloadFormat format, std::uint64_t id, std::string_view why = "closed on request");
    /// Whether new subscriptions get last values at the endpoint, as bound.
    [[nodiscard]] bool has_last_value(PayloadFormat format, std::string_view endpoint) const;
    /// As Publisher::send_to().
    bool send_to(PayloadFormat format, std::uint64_t id, std::string_view topic, std::string_view payload);
    /// As Publisher::close(); `done` is called when all are closed.
    void close(std::chrono::milliseconds grace, const std::function<void()>& done);

  private:
    friend class PublishSockets;
    struct Line {
        PayloadFormat format;
        std::unique_ptr<Publisher> publisher;
    };

    void add_lines(std::span<const FormatEndpoint> endpoints);
    [[nodiscard]] std::unique_ptr<Publisher> make_publisher(PayloadFormat format, std::size_t sessions_max,
                                                            std::span<const FormatEndpoint> endpoints);
    [[nodiscard]] Publisher& publisher_of(PayloadFormat format) const noexcept;

    Reactor& reactor_;
    const std::size_t connections_max_;
    const Hooks hooks_;
    std::vector<Line> lines_;
    BoundEndpoints<PublishSockets> bound_;
};

}  // namespace telegate
