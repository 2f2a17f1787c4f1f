#pragma once

#include "core/endpoint.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "peers/reconnect_pause.hpp"
#include "session/outbox.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace telegate {

/// Keeps one endpoint connected: connects, waits for the end of the session, pauses and reconnects.
///
/// Threads: the reactor's.
/// Limits: one attempt at a time; the pauses of ReconnectPause between them.
/// Failure: start() throws std::system_error for an endpoint that can never be connected. Every later failure calls
/// on_failure, after which the owner calls retry().
class Dialer {
  public:
    struct Target {
        Endpoint endpoint;
        std::string alias;               // identity assigned to the peer; empty: none
        std::shared_ptr<Outbox> outbox;  // kept across connections; null: each connection has its own
    };
    struct Events {
        std::function<void(Dialer&, std::unique_ptr<Stream>)> on_stream;
        std::function<void(Dialer&, std::string_view why)> on_failure;
    };

    Dialer(Reactor& reactor, Target target, const ReconnectPause& pause, Events events);
    Dialer(const Dialer&) = delete;
    Dialer& operator=(const Dialer&) = delete;

    void start();
    /// Connects again after a pause.
    void retry();
    /// Records that the session's handshake has finished.
    void record_opened() { opened_at_ = std::chrono::steady_clock::now(); }
    /// Records that the session has ended after its handshake. `was_of_use`: see Session.
    void record_lost(bool was_of_use) {
        if (was_of_use) {
            pause_.stood(std::chrono::steady_clock::now() - opened_at_);
        }
    }
    /// Stops all attempts. No events follow.
    void stop();
    [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }

    [[nodiscard]] const Endpoint& endpoint() const noexcept { return target_.endpoint; }
    [[nodiscard]] const std::string& endpoint_text() const noexcept { return endpoint_text_; }
    [[nodiscard]] const std::string& alias() const noexcept { return target_.alias; }
    [[nodiscard]] const std::shared_ptr<Outbox>& outbox() const noexcept { return target_.outbox; }

  private:
    void try_again();
    void finish_attempt(std::unique_ptr<Stream> stream, int error);

    Reactor& reactor_;
    const Target target_;
    const std::string endpoint_text_;
    const Events events_;
    ReconnectPause pause_;
    Alarm alarm_;
    std::unique_ptr<transport::Connector> connector_;
    std::chrono::steady_clock::time_point opened_at_;
    bool stopped_ = false;
};

}  // namespace telegate
