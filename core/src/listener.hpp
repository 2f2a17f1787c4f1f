#pragma once

#include "asio_types.hpp"
#include "transport/transport.hpp"

#include <functional>
#include <memory>

namespace telegate {

/// Accepts connections at one endpoint, for ever: an error of one connection or a lack of descriptors only delays it.
///
/// Threads: the reactor's.
/// Limits:  accepts_per_turn connections in one turn of the loop.
/// Failure: accept errors go to on_error; after one that will last a while it pauses.
class Listener final : public std::enable_shared_from_this<Listener> {
  public:
    using OnAccept = std::function<void(UniqueFd, const Endpoint& at)>;
    /// `error`: an errno value.
    using OnError = std::function<void(int error)>;

    Listener(net::io_context& context, transport::Bound bound, OnAccept on_accept, OnError on_error);

    void start() { wait(); }
    /// Accepts nobody from now on. Idempotent.
    void close();

    [[nodiscard]] const Endpoint& endpoint() const noexcept { return endpoint_; }

  private:
    static constexpr std::chrono::milliseconds pause{100};  // descriptors do not come back within microseconds

    void wait();
    void accept_some();
    void wait_after_pause();

    Descriptor descriptor_;
    Timer pause_timer_;
    const Endpoint endpoint_;
    const transport::FileIdentity file_;
    const OnAccept on_accept_;
    const OnError on_error_;
    bool closed_ = false;
};

}  // namespace telegate
