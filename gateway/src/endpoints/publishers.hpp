#pragma once

#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "encode/payload_format.hpp"
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

    /// What prepare() has found and bound.
    struct Prepared;
    /// Binds the endpoints that are new, nothing else. Those that stay as they are for a subscriber are not touched,
    /// whatever their order, and with port 0 keep the port that they have. Where one that is to go is in the way, it is
    /// no longer bound from here on, but its subscribers stay. When it throws, all is as before.
    [[nodiscard]] std::shared_ptr<Prepared> prepare(std::span<const FormatEndpoint> endpoints);
    /// Back to how it was before prepare(). Returns endpoints that could not be bound again, which are gone then.
    std::vector<std::string> roll_back(Prepared& prepared);
    /// The endpoints are the new ones. The subscribers of those that have gone, or have another mechanism now, may take
    /// what is pending for `grace`. CURVE as renew() does it.
    void apply(Prepared& prepared, std::chrono::milliseconds grace);
    /// Other keys or clients for the endpoint of a section, if they are others. From then on they hold for who comes; a
    /// subscriber whose key is not among them is closed, and counted. Returns how many; nullopt when nothing changed.
    std::optional<std::size_t> renew(const NamedCurve& curve);

    /// For the pump: formats that have an endpoint.
    [[nodiscard]] std::vector<FormatPublisher> by_format() const;
    /// As bound, in the order in which they were given.
    [[nodiscard]] std::vector<FormatEndpoint> endpoints() const;
    /// Those of one format after those of another.
    [[nodiscard]] std::vector<SubscriberStatus> subscribers() const;
    [[nodiscard]] PublisherTotals totals() const;
    [[nodiscard]] std::vector<FormatTotals> totals_by_format() const;
    /// Subscribers that were closed because their key was among the clients' no more.
    [[nodiscard]] std::uint64_t revoked() const noexcept { return revoked_; }

    /// As Publisher::close_peer(), by the number of SubscriberStatus.
    bool close_peer(PayloadFormat format, std::uint64_t id, std::string_view why = "closed on request");
    /// Whether new subscriptions get last values at the endpoint, as bound.
    [[nodiscard]] bool has_last_value(PayloadFormat format, std::string_view endpoint) const;
    /// As Publisher::send_to().
    bool send_to(PayloadFormat format, std::uint64_t id, std::string_view topic, std::string_view payload);
    /// As Publisher::close(); `done` is called when all are closed.
    void close(std::chrono::milliseconds grace, const std::function<void()>& done);

  private:
    struct Line {
        PayloadFormat format;
        std::unique_ptr<Publisher> publisher;
    };
    struct Bound {
        FormatEndpoint wanted;  // as in the settings
        Endpoint as_bound;
    };

    void add_lines(std::span<const FormatEndpoint> endpoints);
    [[nodiscard]] std::unique_ptr<Publisher> make_publisher(PayloadFormat format, std::size_t sessions_max,
                                                            std::span<const FormatEndpoint> endpoints);
    [[nodiscard]] Publisher& publisher_of(PayloadFormat format) const noexcept;
    [[nodiscard]] std::vector<Bound> match(std::vector<Bound>& next) const;
    [[nodiscard]] Endpoint bind(const FormatEndpoint& wanted, Prepared& prepared);
    std::size_t change_curve(const Bound& before, const Bound& after, std::chrono::milliseconds grace);
    std::size_t revoke(const Bound& bound);

    Reactor& reactor_;
    const std::size_t connections_max_;
    const Hooks hooks_;
    std::vector<Line> lines_;
    std::vector<Bound> bound_;
    std::uint64_t revoked_ = 0;
};

}  // namespace telegate
