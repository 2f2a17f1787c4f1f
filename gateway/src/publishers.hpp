#pragma once

#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "payload_format.hpp"
#include "pump.hpp"
#include "status.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace telegate {

/// The gateway's publishers: one for each format that some endpoint has, with a log and subscriptions of its own.
///
/// Threads: the reactor's, or any while nobody turns it.
/// Limits:  those of a publisher, for each format; of connections each has an equal share of `connections_max` at most.
/// Failure: the constructor throws std::system_error when an address cannot be had.
class Publishers {
  public:
    Publishers(Reactor& reactor, std::span<const FormatEndpoint> endpoints, std::size_t connections_max,
               const MonitorHandler& monitor);

    /// For the pump.
    [[nodiscard]] std::vector<FormatPublisher> by_format() const;
    /// As bound, in the order in which they were given.
    [[nodiscard]] std::vector<FormatEndpoint> endpoints() const;
    /// Those of one format after those of another.
    [[nodiscard]] std::vector<SubscriberStatus> subscribers() const;
    [[nodiscard]] PublisherTotals totals() const;

    /// As Publisher::close_peer(), by the number of SubscriberStatus.
    bool close_peer(PayloadFormat format, std::uint64_t id);
    /// As Publisher::close(); `done` is called when all are closed.
    void close(std::chrono::milliseconds grace, const std::function<void()>& done);

  private:
    struct Line {
        PayloadFormat format;
        std::unique_ptr<Publisher> publisher;
    };

    [[nodiscard]] Publisher& publisher_of(PayloadFormat format) const noexcept;

    std::vector<Line> lines_;
    std::vector<FormatEndpoint> bound_;
};

}  // namespace telegate
