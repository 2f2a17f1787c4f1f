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

/// Keeps one endpoint connected: an attempt, the session that comes of it, a pause, and again.
///
/// Threads: the reactor's.
/// Limits:  one attempt at a time; the pauses of ReconnectPause between them.
/// Failure: start() throws std::system_error for an endpoint that can never be connected. Every later failure leads to
///          on_failure and another attempt.
class Dialer {
  public:
    struct Target {
        Endpoint endpoint;
        std::string alias;               // identity to know the peer by; empty for none
        std::shared_ptr<Outbox> outbox;  // kept over connections; null: each connection has its own
    };
    struct Events {
        std::function<void(Dialer&, std::unique_ptr<Stream>)> on_stream;
        std::function<void(Dialer&, std::string_view why)> on_failure;
    };

    Dialer(Reactor& reactor, Target target, const ReconnectPause& pause, Events events);
    Dialer(const Dialer&) = delete;
    Dialer& operator=(const Dialer&) = delete;

    void start();
    /// Tries again after a pause.
    void retry();
    /// The session's handshake is done.
    void note_opened() { opened_at_ = std::chrono::steady_clock::now(); }
    /// The session has ended after its handshake. `was_of_use`: see Session.
    void note_lost(bool was_of_use) {
        if (was_of_use) {
            pause_.stood(std::chrono::steady_clock::now() - opened_at_);
        }
    }
    /// No attempt and no call comes any more.
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
