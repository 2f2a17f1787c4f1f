#pragma once

#include "core/dealer.hpp"
#include "core/publisher.hpp"
#include "core/router.hpp"
#include "core/subscriber.hpp"
#include "interop/peer/options.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// A common interface to the operations that differ between the four kinds of sockets.
namespace telegate::test {

using Frames = std::span<const Bytes>;

inline SendStatus send_frames(Publisher& socket, const PeerOptions& options, Frames frames) {
    socket.send(options.topic, as_text(frames.back()));
    return SendStatus::sent;
}
inline SendStatus send_frames(Dealer& socket, const PeerOptions&, Frames frames) {
    return socket.send(frames);
}
inline SendStatus send_frames(Router& socket, const PeerOptions& options, Frames frames) {
    return socket.send(options.alias, frames);
}
[[noreturn]] inline SendStatus send_frames(Subscriber&, const PeerOptions&, Frames) {
    throw std::invalid_argument("a subscriber cannot send");
}

/// Returns whether more can be sent without a loss that the receiver would notice.
template <class Socket>
bool has_room(const Socket&, const PeerOptions&) {
    return true;  // dealer and router report it when they send
}
inline bool has_room(const Publisher& socket, const PeerOptions& options) {
    if (options.lossy) {
        return true;
    }
    const std::vector<PeerStatus> peers = socket.subscribers();
    return std::all_of(peers.begin(), peers.end(), [&options](const PeerStatus& peer) {
        return peer.backlog_bytes < options.socket.backlog_bytes_max / 4;
    });
}

template <class Socket>
bool receive(Socket& socket, MessageBatch& batch) {
    return socket.receive(batch);
}
inline bool receive(Publisher&, MessageBatch&) {
    return false;
}

/// Returns the key of a stream of numbers: the topic for a subscriber, the peer for other kinds.
template <class Socket>
std::string stream_of(const Socket&, const MessageBatch& batch, const Message&) {
    return std::string(batch.peer());
}
inline std::string stream_of(const Subscriber&, const MessageBatch&, const Message& message) {
    return std::string(message.text(0));
}

inline SendStatus reply(Dealer& socket, std::string_view, Frames frames) {
    return socket.send(frames);
}
inline SendStatus reply(Router& socket, std::string_view peer, Frames frames) {
    return socket.send(peer, frames);
}
template <class Socket>
[[noreturn]] SendStatus reply(Socket&, std::string_view, Frames) {
    throw std::invalid_argument("only dealer and router can reply");
}

template <class Socket>
void on_readable(Socket& socket, std::function<void()> handler) {
    socket.set_on_readable(std::move(handler));
}
inline void on_readable(Publisher&, const std::function<void()>&) {}

template <class Socket>
void on_writable(Socket&, const std::function<void()>&) {}
inline void on_writable(Dealer& socket, std::function<void()> handler) {
    socket.set_on_writable(std::move(handler));
}
inline void on_writable(Router& socket, std::function<void()> handler) {
    socket.set_on_writable([handler = std::move(handler)](std::string_view) { handler(); });
}

template <class Socket>
void subscribe(Socket&, std::string_view, bool) {
    throw std::invalid_argument("only a subscriber can subscribe");
}
inline void subscribe(Subscriber& socket, std::string_view prefix, bool wanted) {
    wanted ? socket.subscribe(prefix) : socket.unsubscribe(prefix);
}

template <class Socket>
std::vector<PeerStatus> peers_of(const Socket& socket) {
    return socket.peers();
}
inline std::vector<PeerStatus> peers_of(const Publisher& socket) {
    return socket.subscribers();
}

template <class Socket>
void close(Socket& socket, Reactor&, std::function<void()> done) {
    socket.close(std::chrono::seconds(10), std::move(done));
}
inline void close(Subscriber& socket, Reactor& reactor, std::function<void()> done) {
    socket.close();
    reactor.post(std::move(done));
}

}  // namespace telegate::test
