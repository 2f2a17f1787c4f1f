#pragma once

#include "base/worker.hpp"

#include "core/client_shares.hpp"
#include "core/clock.hpp"

#include <functional>
#include <mutex>
#include <string>

namespace telegate {

/// Runs the steps of TLS handshakes on their own thread, `tg-tls`, at a low priority: one operation with the private
/// key takes milliseconds, and anybody who can connect can request it. Clients take turns. The newest handshake of a
/// client is next, because under overload the older ones end too late anyway.
///
/// Threads: add() any; stop() one, after the last add().
/// Limits: the caller's number of connections; one thread, which starts with the first handshake.
/// Failure: add() throws std::system_error if the thread cannot be created, and std::bad_alloc.
class TlsHandshakes {
  public:
    TlsHandshakes();
    ~TlsHandshakes() { stop(); }
    TlsHandshakes(const TlsHandshakes&) = delete;
    TlsHandshakes& operator=(const TlsHandshakes&) = delete;

    /// Runs `step`, which must not throw, when it is the turn of the client.
    void add(const std::string& client, std::function<void()> step);
    /// Ends the thread, then runs the steps that are waiting.
    void stop() noexcept;

  private:
    MonoTime run_next() noexcept;

    std::mutex mutex_;  // guards steps_
    ClientTurns<std::function<void()>> steps_{ClientTurns<std::function<void()>>::Next::newest};
    Worker worker_;
};

}  // namespace telegate
