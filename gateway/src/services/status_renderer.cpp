#include "services/status_renderer.hpp"

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

/// Runs on tg-status.
MonoTime StatusRenderer::run() {
    reactor_.post([this, text = render_()] { end(text); });
    return MonoTime::max();
}

void StatusRenderer::end(const StatusText& text) {
    is_asked_ = false;
    on_done_(text);
}

}  // namespace telegate
