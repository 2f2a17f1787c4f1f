#pragma once

#include "core/delivery.hpp"
#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "peers/peer_table.hpp"
#include "publish/shard_link.hpp"
#include "session/slow_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The log that the sessions of one thread read from, as Deliveries uses it.
/// Threads: the reactor's. Limits: none. Failure: enforce_kept_limit() may throw std::bad_alloc.
class SharedLog {
  public:
    /// Returns the end position of the last segment opened.
    [[nodiscard]] virtual std::uint64_t end() const noexcept = 0;
    /// Returns the end position of the last message.
    [[nodiscard]] virtual std::uint64_t position() = 0;
    /// Sets how far subscribers may be behind: the smallest and the largest of their limits, in bytes.
    virtual void set_limits(std::size_t least, std::size_t largest) noexcept = 0;
    /// Called after more was sent to a single subscriber.
    virtual void enforce_kept_limit() = 0;
    /// As Publisher::must_wait(), for subscribers on other threads. `log_end`: the value that end() may reach.
    [[nodiscard]] virtual bool others_must_wait(std::uint64_t log_end) = 0;

  protected:
    ~SharedLog() = default;
};

/// Throws std::invalid_argument, naming what is not allowed.
void check(const Delivery& delivery);

/// The delivery policy of each endpoint of a publisher and of its subscribers on one thread. Drops messages that are
/// too old, and knows which blocking subscribers are full.
///
/// Threads: the reactor's.
/// Limits: one entry for each bound endpoint.
/// Failure: functions may throw std::bad_alloc.
class Deliveries {
  public:
    /// The arguments must outlive this object.
    Deliveries(Reactor& reactor, PeerTable& peers, SharedLog& log, const PublisherOptions& options);

    /// Adds a session after its handshake; leave() removes it before its end.
    void join(Session& session);
    void leave(const Session& session);

    /// `delivery` must be valid, see check().
    void set(const std::string& endpoint, const Delivery& delivery);
    void forget(const std::string& endpoint);

    [[nodiscard]] bool must_wait();
    /// Returns the limit that the blocking subscribers of this thread set.
    [[nodiscard]] BlockLimit block_limit() const noexcept;
    /// Returns the statuses of all sessions after their handshakes, with PeerStatus::blocking.
    [[nodiscard]] std::vector<PeerStatus> statuses() const;
    void set_on_room(std::function<void()> on_room) { on_room_ = std::move(on_room); }
    /// Checks soon whether the blocking subscribers have capacity again.
    void check_room_soon() {
        if (waits_) {
            later_room_.schedule();
        }
    }
    /// Sends one message to one subscriber. Returns false if `session` is null or not open, or the message is refused.
    [[nodiscard]] bool send_to(Session* session, std::string_view topic, std::string_view payload,
                               const std::optional<SampleRange>& samples);

  private:
    [[nodiscard]] bool blocking(const Session& session) const noexcept;
    [[nodiscard]] std::uint64_t end_after_batch() const noexcept;
    [[nodiscard]] std::size_t bytes_max_of(const Delivery& delivery) const noexcept;
    void set_terms(Session& session, const std::shared_ptr<const DeliveryTerms>& terms);
    void update_limits();
    void expire_old();
    void set_age_alarm();
    void notify_room();

    PeerTable& peers_;
    SharedLog& log_;
    const PublisherOptions& options_;
    const std::shared_ptr<const DeliveryTerms> usual_;
    std::map<std::string, std::shared_ptr<DeliveryTerms>, std::less<>> terms_;  // by endpoint as bound
    std::vector<std::weak_ptr<DeliveryTerms>> aging_;  // terms with a maximum age that an endpoint or a subscriber has
    std::vector<Session*> blocking_;
    std::function<void()> on_room_;
    bool waits_ = false;  // must_wait() has returned true
    bool ages_ = false;   // the alarm is set
    Alarm age_alarm_;
    Later later_room_;
};

}  // namespace telegate
