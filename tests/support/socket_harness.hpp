#pragma once

#include "core/dealer.hpp"
#include "core/publisher.hpp"
#include "core/router.hpp"
#include "core/subscriber.hpp"
#include "support/eventually.hpp"
#include "support/scratch_dir.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace telegate::test {

using Frames = std::vector<std::string>;

/// A reactor that is run by the test: everything happens in one thread, under the control of the test.
///
/// Threads: one. Limits: turn_until() ends at its deadline. Failure: none of its own.
class Bench {
  public:
    /// Waits at most a moment.
    void turn() { reactor.run_for(std::chrono::milliseconds(1)); }

    /// Runs the reactor until `condition` holds. Returns whether it held before the deadline.
    template <class Condition>
    [[nodiscard]] bool turn_until(Condition condition, std::chrono::milliseconds deadline = long_enough) {
        const auto end = std::chrono::steady_clock::now() + deadline;
        while (!condition()) {
            if (std::chrono::steady_clock::now() >= end) {
                return false;
            }
            turn();
        }
        return true;
    }

    ScratchDir scratch;
    Reactor reactor;
};

/// The messages received by a socket, copied out of its batches.
///
/// Threads: the socket's. Limits: none. Failure: none of its own.
template <class Socket>
class Inbox {
  public:
    explicit Inbox(Socket& socket) : socket_(socket) {}

    /// Receives the available messages. Returns how many were received in total.
    std::size_t receive() {
        while (socket_.receive(batch_)) {
            for (const Message message : batch_) {
                Frames frames;
                for (const Bytes frame : message) {
                    frames.emplace_back(as_text(frame));
                }
                messages.push_back(std::move(frames));
                peers.emplace_back(batch_.peer());
            }
        }
        return messages.size();
    }

    std::vector<Frames> messages;
    std::vector<std::string> peers;  // sender of each message

  private:
    Socket& socket_;
    MessageBatch batch_;
};

/// Records the events of a monitor. Must outlive the socket.
///
/// Threads: the reactor's. Limits: none. Failure: none.
class MonitorLog {
  public:
    struct Entry {
        MonitorEventKind kind;
        std::string endpoint;
        std::string peer;
        std::uint64_t peer_id;
        std::string detail;
        std::uint64_t count;
    };

    [[nodiscard]] MonitorHandler handler() {
        return [this](const MonitorEvent& event) {
            entries.push_back({event.kind, std::string(event.endpoint), std::string(event.peer), event.peer_id,
                               std::string(event.detail), event.count});
        };
    }
    [[nodiscard]] std::size_t count(MonitorEventKind kind) const {
        return static_cast<std::size_t>(
            std::count_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.kind == kind; }));
    }
    /// Returns the detail of the last event of this kind; empty if there is none.
    [[nodiscard]] std::string detail(MonitorEventKind kind) const {
        const auto found =
            std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& entry) { return entry.kind == kind; });
        return found == entries.rend() ? "" : found->detail;
    }
    [[nodiscard]] std::vector<MonitorEventKind> kinds() const {
        std::vector<MonitorEventKind> out;
        for (const Entry& entry : entries) {
            out.push_back(entry.kind);
        }
        return out;
    }

    std::vector<Entry> entries;
};

[[nodiscard]] inline std::vector<PeerStatus> peers_of(const Publisher& socket) {
    return socket.subscribers();
}
template <class Socket>
[[nodiscard]] std::vector<PeerStatus> peers_of(const Socket& socket) {
    return socket.peers();
}

/// Calls Router::send() or Dealer::send() with frames given as strings.
template <class Socket, class... Peer>
[[nodiscard]] SendStatus send_frames(Socket& socket, const Frames& frames, const Peer&... peer) {
    std::vector<Bytes> views;
    for (const std::string& frame : frames) {
        views.push_back(as_bytes(frame));
    }
    return socket.send(peer..., std::span<const Bytes>(views));
}

/// Returns whether matched = sent + dropped + pending, for a peer or a socket.
template <class Counts>
[[nodiscard]] bool adds_up(const Counts& counts) {
    return counts.matched == counts.sent + counts.dropped + counts.pending;
}

}  // namespace telegate::test
