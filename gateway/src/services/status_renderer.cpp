#include "services/status_renderer.hpp"

#include <system_error>

namespace telegate {

void StatusRenderer::request() {
    if (is_requested_) {
        return;
    }
    try {
        worker_.start();
        worker_.call_soon();
    } catch (const std::system_error&) {  // no thread can be created
        reactor_.post([this] { end(nullptr); });
    }
    is_requested_ = true;
}

/// Runs on tg-status.
MonoTime StatusRenderer::run() {
    reactor_.post([this, text = render_()] { end(text); });
    return MonoTime::max();
}

void StatusRenderer::end(const StatusText& text) {
    is_requested_ = false;
    on_done_(text);
}

}  // namespace telegate
