#pragma once

#include "uplink/adapter.hpp"

#include "core/reactor.hpp"
#include "core/watch.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace telegate::uplink {

/// The AdapterLoop of a reactor. Threads, limits and failure: see AdapterLoop.
class ReactorLoop final : public AdapterLoop {
  public:
    explicit ReactorLoop(Reactor& reactor)
        : reactor_(reactor), later_(reactor, [this] {
              const auto call = std::move(call_);
              call();
          }) {}

    void watch(int socket, std::function<void()> on_readable, std::function<void()> on_writable) override {
        watch_.reset();
        watch_ = std::make_unique<Watch>(reactor_, socket, std::move(on_readable), std::move(on_writable));
    }
    void unwatch() noexcept override { watch_.reset(); }
    void wait_readable() override { watch_->wait_readable(); }
    void wait_writable() override { watch_->wait_writable(); }
    void call_later(std::function<void()> call) override {
        call_ = std::move(call);
        later_.schedule();
    }
    void cancel_later() noexcept override { later_.cancel(); }

  private:
    Reactor& reactor_;
    std::unique_ptr<Watch> watch_;
    std::function<void()> call_;
    Later later_;
};

}  // namespace telegate::uplink
