#pragma once

#include "uplink/delivery.hpp"
#include "uplink/receipts.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// The event loop of an adapter. It watches one socket. An adapter can be in a module that is loaded at run time and
/// has no access to the functions of the program, so this is an interface.
///
/// Threads: the reactor's. No function calls a handler itself.
/// Limits:  one socket, and one pending call of each kind.
/// Failure: watch() throws std::system_error; all functions but the cancellations may throw std::bad_alloc.
class AdapterLoop {
  public:
    AdapterLoop() = default;
    AdapterLoop(const AdapterLoop&) = delete;
    AdapterLoop& operator=(const AdapterLoop&) = delete;
    virtual ~AdapterLoop() = default;

    /// Watches a socket instead of the previous one. The socket must be open until unwatch().
    virtual void watch(int socket, std::function<void()> on_readable, std::function<void()> on_writable) = 0;
    /// Stops watching. The handlers are not called again. May be called within a handler.
    virtual void unwatch() noexcept = 0;
    /// Each of these leads to one call of a handler. A socket must be watched.
    virtual void wait_readable() = 0;
    virtual void wait_writable() = 0;
    /// Calls `call` once after the running handler has returned. A later call replaces one that is pending.
    virtual void call_later(std::function<void()> call) = 0;
    virtual void cancel_later() noexcept = 0;
};

/// The other side of a connection.
struct BackEnd {
    std::string server;
    std::optional<Place> last = std::nullopt;  // the place of its last message, of any client; nullopt: unknown
    std::uint64_t stream = 0;  // identity of the store of the messages, the same for each connection; 0: unknown
    bool has_places = true;    // otherwise, check() is not called
};

/// Speaks the protocol of one type of back end. It keeps no messages, files or timers, and retries nothing: Delivery
/// decides what is sent, and UplinkRunner limits how long anything may take.
///
/// Threads: the reactor's.
/// Limits:  the messages that were sent and not acknowledged, which Delivery limits.
/// Failure: reported by the events; send() throws std::bad_alloc.
class Adapter {
  public:
    /// Called on the reactor's thread, never from within the functions of the adapter.
    struct Events {
        std::function<void(const BackEnd& back_end)> up;
        std::function<void(std::uint64_t number, bool is_duplicate, Place place)> acknowledged;
        /// `retry_after`: the back end accepts nothing before; 0: unknown.
        std::function<void(std::uint64_t number, Refusal refusal, const std::string& reason,
                           std::chrono::milliseconds retry_after)>
            refused;
        /// The connection has ended, or could not be opened. `is_refused`: no program listens at the address, so that
        /// another attempt costs next to nothing.
        std::function<void(const std::string& reason, bool is_refused)> down;
        std::function<void(Place last)> checked;  // the response to check()
    };

    Adapter() = default;
    virtual ~Adapter() = default;
    Adapter(const Adapter&) = delete;
    Adapter& operator=(const Adapter&) = delete;

    /// Opens a connection. up() or down() follows, unless close() is called before.
    virtual void connect() = 0;
    /// Sends a message; acknowledged(), refused() or down() follows. Only while connected.
    virtual void send(const OutgoingMessage& message, std::uint64_t number) = 0;
    /// Requests the place of the last message. checked(), down() or nothing follows. Only while connected.
    virtual void check() = 0;
    /// Ends the connection; no events follow.
    virtual void close() = 0;
    /// Returns what the adapter waits for until up() or down(), for messages; "" if it is not known.
    [[nodiscard]] virtual std::string_view waits_for() const noexcept { return ""; }
};

/// Returns a number that is the same for equal texts and not 0 (FNV-1a). Threads: any.
[[nodiscard]] constexpr std::uint64_t digest_of(std::string_view text) noexcept {
    std::uint64_t digest = 0xcbf2'9ce4'8422'2325;
    for (const char each : text) {
        digest = (digest ^ static_cast<unsigned char>(each)) * 0x100'0000'01b3;
    }
    return digest == 0 ? 1 : digest;
}

}  // namespace telegate::uplink
