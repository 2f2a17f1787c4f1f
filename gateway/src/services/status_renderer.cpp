#include "services/status_renderer.hpp"

#include "base/memory_reserve.hpp"
#include "core/start_thread.hpp"

#include <poll.h>

#include <exception>
#include <new>
#include <system_error>

namespace telegate {
namespace {

constexpr int renderer_pause_ms = 100;  // until memory may be available again

}  // namespace

void StatusRenderer::join() {
    is_over_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

void StatusRenderer::ask() {
    if (is_asked_) {
        return;
    }
    if (thread_.joinable()) {
        thread_.join();  // it has posted its result, so it is about to end
    }
    text_ = nullptr;
    try {
        thread_ = start_thread("tg-status", [this] { run(); });
    } catch (const std::system_error&) {  // no thread can be created
        reactor_.post([this] { end(); });
    }
    is_asked_ = true;
}

/// Runs on tg-status.
void StatusRenderer::run() noexcept {
    MemoryReserve reserve;
    const MemoryReserve::Use use(reserve);
    try {
        text_ = reserve.restore() ? render_() : nullptr;
    } catch (const std::exception&) {  // out of memory: there is no status
    }
    while (!is_over_ && !(reserve.restore() && post())) {
        ::poll(nullptr, 0, renderer_pause_ms);
    }
}

bool StatusRenderer::post() noexcept {
    try {
        reactor_.post([this] { end(); });
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void StatusRenderer::end() {
    is_asked_ = false;
    on_done_(text_);
}

}  // namespace telegate
