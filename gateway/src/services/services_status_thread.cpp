#include "core/start_thread.hpp"
#include "services/services.hpp"

#include <poll.h>

#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

// How the services get the status, which is rendered on a thread of its own.

namespace telegate {
namespace {

constexpr int memory_pause_ms = 100;  // until there may be some again

}  // namespace

void Services::join_status() {
    if (status_thread_.joinable()) {
        status_thread_.join();
    }
}

/// The peer gets its answer once tg-status has rendered the status. All peers that wait share one rendering.
void Services::ask_status(PeerEntry& peer) {
    if (!status_asked_) {
        join_status();  // it has posted its answer, and so is at its end
        status_text_ = nullptr;
        try {
            status_thread_ = start_thread("tg-status", [this] { render_status(); });
        } catch (const std::system_error&) {  // the system has none left
            parts_.reactor.post([this] { give_status(); });
        }
        status_asked_ = true;
    }
    peer.second.waits_for_status = true;
}

/// On tg-status.
void Services::render_status() noexcept {
    MemoryReserve reserve;
    const MemoryReserve::Use use(reserve);
    try {
        status_text_ = reserve.restore() ? parts_.status() : nullptr;
    } catch (const std::exception&) {  // out of memory: there is no status
    }
    while (!is_over_ && !(reserve.restore() && post_status())) {
        ::poll(nullptr, 0, memory_pause_ms);
    }
}

bool Services::post_status() noexcept {
    try {
        parts_.reactor.post([this] { give_status(); });
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void Services::give_status() {
    const MemoryReserve::Use use(reserve_);
    (void)reserve_.restore();
    status_asked_ = false;
    for (PeerEntry& peer : peers_) {
        if (std::exchange(peer.second.waits_for_status, false)) {
            peer.second.has_status = true;
            peer.second.status = status_text_;
            make_ready(peer);
        }
    }
    ask_turn();
}

}  // namespace telegate
