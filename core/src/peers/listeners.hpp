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
        std::unique_ptr<transport::Listener> listener;  // null: unbound
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
    /// Stops listening. Returns the text of the endpoint; empty: it is not bound. The entry exists until
    /// destroy_removed(), because a call that refers to it may be in progress.
    std::string remove(const Endpoint& endpoint);
    void destroy_removed() noexcept { removed_.clear(); }

    [[nodiscard]] std::vector<Endpoint> endpoints() const;

  private:
    const Events events_;
    std::vector<std::unique_ptr<Listening>> listening_;
    std::vector<std::unique_ptr<Listening>> removed_;
};

}  // namespace telegate
