#include "services/status_renderer.hpp"

#include "base/memory_reserve.hpp"

#include <exception>
#include <system_error>

namespace telegate {

void StatusRenderer::ask() {
    if (is_asked_) {
        return;
    }
    try {
        worker_.start();
        worker_.call_soon();
    } catch (const std::system_error&) {  // no thread can be created
        reactor_.post([this] { end(nullptr); });
    }
    is_asked_ = true;
}

/// Runs on tg-status. Out of memory for post(), the worker calls it again.
MonoTime StatusRenderer::run() {
    MemoryReserve reserve;
    const MemoryReserve::Use use(reserve);
    StatusText text;
    try {
        text = reserve.restore() ? render_() : nullptr;
    } catch (const std::exception&) {  // out of memory: there is no status
    }
    (void)reserve.restore();
    reactor_.post([this, text] { end(text); });
    return MonoTime::max();
}

void StatusRenderer::end(const StatusText& text) {
    is_asked_ = false;
    on_done_(text);
}

}  // namespace telegate
