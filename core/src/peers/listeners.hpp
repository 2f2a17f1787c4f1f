#pragma once

#include "core/curve.hpp"
#include "core/endpoint.hpp"
#include "transport/transport.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace telegate {

/// The endpoints at which one socket accepts connections.
///
/// Threads: the reactor's.
/// Limits: the caller's.
/// Failure: add() throws what `make` throws, and std::bad_alloc.
class Listeners {
  public:
    struct Listening {
        std::unique_ptr<transport::Listener> listener;  // null: unbound during one of its own calls
        std::string endpoint;
        std::shared_ptr<const Security> security;  // for new connections; null: the socket's
    };
    /// A call may unbind the endpoint that it refers to.
    struct Events {
        std::function<void(const Listening& listening, std::unique_ptr<Stream> stream)> accepted;
        std::function<void(const Listening& listening, int error)> failed;
    };
    using MakeListener = std::function<std::unique_ptr<transport::Listener>(transport::ListenerEvents)>;

    explicit Listeners(Events events) noexcept;

    /// Returns the endpoint as bound.
    Endpoint add(std::shared_ptr<const Security> security, const MakeListener& make);
    /// Returns false if the endpoint is not bound.
    bool set_security(const Endpoint& endpoint, std::shared_ptr<const Security> security);
    /// Stops listening. Returns the text of the endpoint; empty: it is not bound. A listener in the middle of a call
    /// exists until destroy_removed().
    std::string remove(const Endpoint& endpoint);
    [[nodiscard]] bool has_removed() const noexcept { return !removed_.empty(); }
    void destroy_removed() noexcept { removed_.clear(); }

    [[nodiscard]] std::vector<Endpoint> endpoints() const;

  private:
    const Events events_;
    std::vector<std::unique_ptr<Listening>> listening_;
    std::vector<std::unique_ptr<Listening>> removed_;
    unsigned calls_ = 0;  // in progress
};

}  // namespace telegate
