#pragma once

#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "endpoints/bound_endpoints.hpp"
#include "endpoints/format_endpoint.hpp"
#include "endpoints/publish_curve.hpp"
#include "publish/format_feed.hpp"
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

/// The interface of BoundEndpoints to the publishers.
///
/// Threads, Limits, Failure: as BoundEndpoints.
class PublishSockets {
  public:
    using Wanted = FormatEndpoint;

    static constexpr const char* section = "publish";

    explicit PublishSockets(Publishers& publishers) noexcept : publishers_(&publishers) {}

    static bool share_socket(const Wanted& a, const Wanted& b) noexcept { return a.format == b.format; }
    [[nodiscard]] Publisher& of(const Wanted& wanted) const noexcept;
    void set_up(const Wanted& wanted, const Endpoint& at) { of(wanted).set_delivery(at, wanted.delivery); }
    void close_peers(const Wanted& wanted, const Endpoint& at, std::chrono::milliseconds grace);
    std::vector<PeerStatus> peers(const Wanted& wanted);
    void change(const Wanted& before, const Wanted& after, const Endpoint& at);

  private:
    Publishers* publishers_;
};

/// The gateway's publishers: one for each format with an endpoint, with its own log and subscriptions. A publisher and
/// its counts stay when its last endpoint is removed.
///
/// Threads: the reactor's, or any while the reactor does not run.
/// Limits: those of a publisher, for each format. Each publisher may have an equal share of connections_max, divided
/// by the number of formats when it is created; earlier publishers keep their share. Connections beyond the available
/// descriptors are not accepted, and counted as such. Samples are stored in segments of a quarter of the smallest
/// `backlog_bytes` of the format when its publisher is created, 16 to 260 KiB; a smaller limit set later counts as four
/// such segments.
/// Failure: the constructor and prepare() throw std::system_error if an address cannot be bound.
class Publishers {
  public:
    /// Callbacks for events; each may be empty.
    struct Hooks {
        std::function<void(PayloadFormat, const MonitorEvent&)> monitor;
        std::function<LossHooks(PayloadFormat)> losses;  // called once per format
    };
    struct Options {
        std::size_t connections_max;
        std::size_t io_threads = 1;  // of each publisher, see PublisherOptions
    };
    Publishers(Reactor& reactor, std::span<const FormatEndpoint> endpoints, const Options& options, Hooks hooks);

    using Prepared = BoundEndpoints<PublishSockets>::Prepared;
    /// See BoundEndpoints; prepare() also creates the publishers of new formats.
    [[nodiscard]] std::shared_ptr<Prepared> prepare(std::span<const FormatEndpoint> endpoints);
    std::vector<std::string> roll_back(Prepared& prepared) { return bound_.roll_back(prepared); }
    void apply(Prepared& prepared, std::chrono::milliseconds grace) { bound_.apply(prepared, grace); }
    std::optional<std::size_t> renew(const NamedCurve& curve) { return bound_.renew(curve); }

    /// Returns the publishers that have an endpoint, for the pump.
    [[nodiscard]] std::vector<FormatPublisher> by_format() const;
    /// Returns the endpoints as bound, in the order of the settings.
    [[nodiscard]] std::vector<FormatEndpoint> endpoints() const;
    /// Returns the subscribers, grouped by format.
    [[nodiscard]] std::vector<SubscriberStatus> subscribers() const;
    [[nodiscard]] PublisherTotals totals() const;
    [[nodiscard]] std::vector<FormatTotals> totals_by_format() const;
    [[nodiscard]] std::uint64_t revoked() const noexcept { return bound_.revoked(); }

    /// Returns why a new subscriber of a format may be refused, and the client with the most connections; "" while
    /// there are free places.
    [[nodiscard]] std::string crowd(PayloadFormat format) const;
    /// See Publisher::close_peer(). `id` is that of SubscriberStatus.
    bool close_peer(PayloadFormat format, std::uint64_t id, std::string_view why = "closed on request");
    /// Returns whether new subscriptions at the endpoint, as bound, receive last values.
    [[nodiscard]] bool has_last_value(PayloadFormat format, std::string_view endpoint) const;
    /// Returns the publisher of a format that has an endpoint.
    [[nodiscard]] Publisher& publisher_of(PayloadFormat format) const noexcept;
    /// See Publisher::close(); `done` is called after all publishers are closed.
    void close(std::chrono::milliseconds grace, const std::function<void()>& done);

  private:
    struct Line {
        PayloadFormat format;
        std::unique_ptr<Publisher> publisher;
    };

    void add_lines(std::span<const FormatEndpoint> endpoints);
    [[nodiscard]] std::unique_ptr<Publisher> make_publisher(PayloadFormat format, std::size_t sessions_max,
                                                            std::span<const FormatEndpoint> endpoints);

    Reactor& reactor_;
    const Options options_;
    const Hooks hooks_;
    std::vector<Line> lines_;
    BoundEndpoints<PublishSockets> bound_;
};

}  // namespace telegate
