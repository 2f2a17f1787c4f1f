#include "hostile/arena.hpp"

#include "support/stream_pair.hpp"

#include <malloc.h>

#include <stdexcept>
#include <type_traits>

namespace telegate::test {
namespace {

constexpr std::string_view number_topic = "number";

std::variant<std::unique_ptr<Publisher>, std::unique_ptr<Router>, std::unique_ptr<Dealer>, std::unique_ptr<Subscriber>>
make_socket(Victim victim, Reactor& reactor, const PublisherOptions& options) {
    switch (victim) {
        case Victim::publisher: return std::make_unique<Publisher>(reactor, options);
        case Victim::router: return std::make_unique<Router>(reactor, options);
        case Victim::dealer: return std::make_unique<Dealer>(reactor, options);
        case Victim::subscriber: break;
    }
    auto subscriber = std::make_unique<Subscriber>(reactor, options);
    subscriber->subscribe("");
    return subscriber;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Victim victim) {
    switch (victim) {
        case Victim::publisher: return out << "publisher";
        case Victim::router: return out << "router";
        case Victim::dealer: return out << "dealer";
        case Victim::subscriber: break;
    }
    return out << "subscriber";
}

Victim each_victim() {
    return GENERATE(Victim::publisher, Victim::router, Victim::dealer, Victim::subscriber);
}

Transport tcp_and_ipc() {
    return GENERATE(Transport::tcp, Transport::ipc);
}

std::size_t heap_in_use() {
    const struct mallinfo2 heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

Arena::Arena(Victim victim, PublisherOptions options, Transport transport)
    : victim_(victim), socket_(make_socket(victim, reactor, options)) {
    std::visit(
        [&](auto& socket) {
            endpoint_ = socket->bind(fresh_endpoint(transport, scratch.path()));
            socket->set_monitor(events.handler());
        },
        socket_);
    beside_ = std::make_unique<RawPeer>(endpoint_);
    beside_->send(greeting() + peer_ready("beside") + (victim == Victim::publisher ? subscribe(number_topic) : ""));
    const bool is_here = Bench::turn_until([&] {
        return peers().size() == 1 && beside_->read() == hello() &&
               (victim_ != Victim::publisher || publisher().totals().subscriptions == 1);
    });
    if (!is_here) {
        throw std::runtime_error("the well-behaved peer cannot connect");
    }
}

std::string Arena::peer_ready(std::string_view identity) const {
    switch (victim_) {
        case Victim::publisher: return ready("SUB");
        case Victim::subscriber: return ready("PUB");
        case Victim::router:
        case Victim::dealer: break;
    }
    return ready("DEALER", identity);
}

std::string Arena::hello() const {
    switch (victim_) {
        case Victim::publisher: return publisher_hello();
        case Victim::router: return greeting() + ready("ROUTER", "");
        case Victim::dealer: return greeting() + ready("DEALER", "");
        case Victim::subscriber: break;
    }
    return greeting() + ready("SUB") + subscribe("");
}

RawPeer Arena::join(std::string_view identity, int receive_buffer_bytes) {
    RawPeer peer = connect(receive_buffer_bytes);
    peer.send(greeting() + peer_ready(identity));
    const std::size_t before = events.count(MonitorEventKind::handshake_done);
    const bool is_in = turn_until([&] {
        return peer.read(hello().size() - peer.received().size()) == hello() &&
               events.count(MonitorEventKind::handshake_done) > before;
    });
    if (!is_in) {
        throw std::runtime_error("a new peer cannot connect");
    }
    return peer;
}

void Arena::send_number() {
    const std::string numbered = message(number_topic, std::to_string(next_number_));
    if (victim_ == Victim::publisher) {
        publisher().send(number_topic, std::to_string(next_number_));
        expected_ += numbered;
    } else {
        beside_->send(numbered);
    }
    ++next_number_;
}

void Arena::turn() {
    send_number();
    Bench::turn();
    receive();
    beside_->read();
}

void Arena::receive() {
    std::visit(
        [&](auto& socket) {
            if constexpr (!std::is_same_v<decltype(socket), std::unique_ptr<Publisher>&>) {
                receive_from(*socket);
            }
        },
        socket_);
}

template <class Receiving>
void Arena::receive_from(Receiving& socket) {
    while (socket.receive(batch_)) {
        for (const Message message : batch_) {
            if (message.text(0) != number_topic) {
                Frames frames;
                for (const Bytes frame : message) {
                    frames.emplace_back(as_text(frame));
                }
                received_.push_back(std::move(frames));
                senders_.emplace_back(batch_.peer());
                continue;
            }
            in_order_ = in_order_ && message.text(1) == std::to_string(next_arrival_++);
            if constexpr (std::is_same_v<Receiving, Router>) {
                const SendStatus status = socket.send(batch_.peer(), {message.text(0), message.text(1)});
                in_order_ = in_order_ && status == SendStatus::sent;
                expected_ += test::message(message.text(0), message.text(1));
            }
        }
    }
}

bool Arena::is_cut(RawPeer& peer, std::chrono::milliseconds deadline) {
    return turn_until(
        [&] {
            peer.send();
            peer.read();
            return peer.at_end();
        },
        deadline);
}

bool Arena::gets(RawPeer& peer, const std::string& bytes) {
    const std::string all = hello() + bytes;
    return turn_until([&] {
               peer.send();
               return peer.read().size() >= all.size() || peer.at_end();
           }) &&
           peer.received() == all;
}

std::size_t Arena::numbers_arrived() const noexcept {
    return next_arrival_;
}

bool Arena::others_are_well() {
    for (int more = 0; more < 5; ++more) {
        turn();
    }
    const RawPeer newcomer = join("newcomer");
    const bool all_arrived = Bench::turn_until([&] {
        beside_->send();
        receive();
        return (victim_ == Victim::publisher || next_arrival_ == next_number_) &&
               beside_->read().size() == hello().size() + expected_.size();
    });
    return all_arrived && in_order_ && beside_->received() == hello() + expected_;
}

SocketTotals Arena::totals() const {
    return std::visit([](const auto& socket) { return SocketTotals(socket->totals()); }, socket_);
}

std::vector<PeerStatus> Arena::peers() const {
    return std::visit([](const auto& socket) { return peers_of(*socket); }, socket_);
}

}  // namespace telegate::test
