#include "uplink/reactor_loop.hpp"

#include <utility>

namespace telegate::uplink {

ReactorLoop::ReactorLoop(Reactor& reactor)
    : reactor_(reactor), later_(reactor, [this] {
          const auto call = std::move(call_);
          call();
      }) {}

void ReactorLoop::watch(int socket, std::function<void()> on_readable, std::function<void()> on_writable) {
    watch_.reset();
    watch_ = std::make_unique<Watch>(reactor_, socket, std::move(on_readable), std::move(on_writable));
}

void ReactorLoop::call_later(std::function<void()> call) {
    call_ = std::move(call);
    later_.ask();
}

}  // namespace telegate::uplink
