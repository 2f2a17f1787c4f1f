#pragma once

#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/raw_peer.hpp"
#include "support/socket_harness.hpp"
#include "support/zmtp_text.hpp"

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate::test {

/// Which socket is under attack.
enum class Victim : std::uint8_t { publisher, router, dealer, subscriber };
std::ostream& operator<<(std::ostream& out, Victim victim);  // for the report of a failed check

/// Returns the bytes on the heap, without freed ones; always the same under a sanitizer, which has its own heap.
[[nodiscard]] std::size_t heap_in_use();

/// A bound socket under attack, and a well-behaved peer next to it. In every turn() that peer sends one numbered
/// message (to a router, which sends it back, to a dealer and to a subscriber) or receives one (from a publisher).
///
/// Threads: one. Limits: none. Failure: as the socket's and RawPeer's; the constructor throws if the well-behaved peer
/// cannot connect.
class Arena : public Bench {
  public:
    explicit Arena(Victim victim, PublisherOptions options = {}, Transport transport = Transport::tcp);

    /// Exchanges one numbered message, then runs all pending work of both sides.
    void turn();
    template <class Condition>
    bool turn_until(Condition condition, std::chrono::milliseconds deadline = long_enough) {
        const auto end = std::chrono::steady_clock::now() + deadline;
        while (!condition()) {
            if (std::chrono::steady_clock::now() >= end) {
                return false;
            }
            turn();
        }
        return true;
    }

    /// Returns a connection that has sent nothing yet.
    RawPeer connect(int receive_buffer_bytes = 0) { return RawPeer(endpoint_, receive_buffer_bytes); }
    /// Returns a peer that has completed its handshake and read hello().
    RawPeer join(std::string_view identity = "", int receive_buffer_bytes = 0);

    /// Returns the READY of a peer that may talk to this socket.
    [[nodiscard]] std::string peer_ready(std::string_view identity = "") const;
    /// Returns everything that this socket sends before its first message.
    [[nodiscard]] std::string hello() const;

    /// Runs until the socket has closed the connection. Returns whether it did.
    bool is_cut(RawPeer& peer, std::chrono::milliseconds deadline = long_enough);
    /// Runs until the peer has received exactly `bytes` after hello(). Returns whether it did.
    bool gets(RawPeer& peer, const std::string& bytes);
    /// Returns whether the well-behaved peer has lost nothing so far and is still served, and a new connection is
    /// served too.
    bool others_are_well();

    [[nodiscard]] Publisher& publisher() { return *std::get<std::unique_ptr<Publisher>>(socket_); }
    [[nodiscard]] Router& router() { return *std::get<std::unique_ptr<Router>>(socket_); }
    [[nodiscard]] Dealer& dealer() { return *std::get<std::unique_ptr<Dealer>>(socket_); }
    [[nodiscard]] Subscriber& subscriber() { return *std::get<std::unique_ptr<Subscriber>>(socket_); }
    [[nodiscard]] SocketTotals totals() const;
    /// Includes the well-behaved peer.
    [[nodiscard]] std::vector<PeerStatus> peers() const;
    [[nodiscard]] const Endpoint& endpoint() const noexcept { return endpoint_; }
    /// Returns the messages from peers other than the well-behaved peer.
    [[nodiscard]] const std::vector<Frames>& received() const noexcept { return received_; }
    [[nodiscard]] const std::vector<std::string>& senders() const noexcept { return senders_; }
    /// Returns the number of numbered messages sent so far.
    [[nodiscard]] std::size_t numbers() const noexcept { return next_number_; }
    [[nodiscard]] std::size_t numbers_arrived() const noexcept;

    MonitorLog events;

  private:
    using Socket = std::variant<std::unique_ptr<Publisher>, std::unique_ptr<Router>, std::unique_ptr<Dealer>,
                                std::unique_ptr<Subscriber>>;

    void send_number();
    void receive();
    template <class Receiving>
    void receive_from(Receiving& socket);

    const Victim victim_;
    Socket socket_;
    Endpoint endpoint_;
    std::unique_ptr<RawPeer> beside_;
    MessageBatch batch_;
    std::size_t next_number_ = 0;
    std::size_t next_arrival_ = 0;  // number that the socket expects from the well-behaved peer
    bool in_order_ = true;
    std::string expected_;  // the data that the well-behaved peer should read after hello()
    std::vector<Frames> received_;
    std::vector<std::string> senders_;
};

/// Returns the type of a socket that may talk to the victim.
[[nodiscard]] inline std::string peer_type_of(Victim victim) {
    return victim == Victim::publisher ? "SUB" : victim == Victim::subscriber ? "PUB" : "DEALER";
}

/// Returns a greeting with other bytes from `offset` on.
[[nodiscard]] inline std::string greeting_with(std::size_t offset, std::string_view bytes) {
    return greeting().replace(offset, bytes.size(), bytes);
}

/// Within a test case: runs it for each victim.
[[nodiscard]] Victim each_victim();
[[nodiscard]] Transport tcp_and_ipc();

}  // namespace telegate::test
