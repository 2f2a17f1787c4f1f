#include "core/receiving_socket.hpp"

#include "peers/fair_queue.hpp"
#include "peers/peer_table.hpp"

#include <utility>

namespace telegate {

Endpoint ReceivingSocket::bind(const Endpoint& endpoint, std::optional<Security> security) {
    return table_.bind(endpoint, std::move(security));
}

bool ReceivingSocket::unbind(const Endpoint& endpoint) {
    return table_.unbind(endpoint);
}

std::vector<Endpoint> ReceivingSocket::endpoints() const {
    return table_.endpoints();
}

bool ReceivingSocket::receive(MessageBatch& batch) {
    return queue_.receive(batch);
}

bool ReceivingSocket::receive_for(MessageBatch& batch, std::chrono::milliseconds time) {
    table_.flush_marked();
    return queue_.receive_for(batch, time);
}

void ReceivingSocket::set_on_readable(std::function<void()> handler) {
    queue_.set_on_readable(std::move(handler));
}

void ReceivingSocket::flush() {
    table_.flush();
}

void ReceivingSocket::set_monitor(MonitorHandler handler) {
    table_.set_monitor(std::move(handler));
}

std::vector<PeerStatus> ReceivingSocket::peers() const {
    return table_.statuses();
}

SocketTotals ReceivingSocket::totals() const {
    return table_.totals();
}

}  // namespace telegate
