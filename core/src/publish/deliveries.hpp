#pragma once

#include "core/delivery.hpp"
#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "peers/peer_table.hpp"
#include "publish/publish_log.hpp"
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

/// The delivery policy of each endpoint of a publisher and of its subscribers. Drops messages that are too old, and
/// knows which blocking subscribers are full.
///
/// Threads: the reactor's.
/// Limits: one entry for each bound endpoint.
/// Failure: with several threads, send_to() throws std::invalid_argument, as does set() for anything but the defaults.
/// set() also throws it for invalid values.
class Deliveries {
  public:
    Deliveries(Reactor& reactor, PeerTable& peers, PublishLog& log, const PublisherOptions& options);

    /// Adds a session after its handshake; leave() removes it before its end.
    void join(Session& session);
    void leave(const Session& session);

    void set(const std::string& endpoint, const Delivery& delivery);
    void forget(const std::string& endpoint);

    [[nodiscard]] bool must_wait();
    /// Returns the ids of the blocking subscribers that are full.
    [[nodiscard]] std::vector<std::uint64_t> holding_up() const;
    void set_on_room(std::function<void()> on_room) { on_room_ = std::move(on_room); }
    /// Checks soon whether the blocking subscribers have capacity again.
    void look_for_room() {
        if (waits_) {
            later_room_.ask();
        }
    }
    /// Sends one message to one subscriber. Returns false if `session` is null or not open, or the message is refused.
    [[nodiscard]] bool send_to(Session* session, std::string_view topic, std::string_view payload);

  private:
    [[nodiscard]] bool blocking(const Session& session) const noexcept;
    [[nodiscard]] std::size_t bytes_max_of(const Delivery& delivery) const noexcept;
    void give_terms(Session& session, const std::shared_ptr<const DeliveryTerms>& terms);
    void look_at_limits();
    void look_at_ages();
    void set_age_alarm();
    void tell_room();

    PeerTable& peers_;
    PublishLog& log_;
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
