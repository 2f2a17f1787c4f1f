#pragma once

#include "base/worker.hpp"

#include "core/clock.hpp"
#include "core/reactor.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace telegate {

/// The rendered status. Null: it was not ready in time.
using StatusText = std::shared_ptr<const std::string>;

/// Renders the status on a dedicated thread, tg-status, which starts with the first request.
///
/// Threads: the reactor's; join() the main one after the reactor has stopped.
/// Limits: one rendering at a time; requests made during a rendering share its result.
/// Failure: without a thread the text is null.
class StatusRenderer {
  public:
    /// `render` is called on tg-status, `on_done` on the reactor thread.
    StatusRenderer(Reactor& reactor, std::function<StatusText()> render, std::function<void(StatusText)> on_done)
        : reactor_(reactor),
          render_(std::move(render)),
          on_done_(std::move(on_done)),
          worker_("tg-status", [this] { return run(); }) {}
    StatusRenderer(const StatusRenderer&) = delete;
    StatusRenderer& operator=(const StatusRenderer&) = delete;

    void request();
    /// Waits for the current rendering and discards its result.
    void join() { worker_.stop(); }

  private:
    [[nodiscard]] MonoTime run();
    void end(const StatusText& text);

    Reactor& reactor_;
    const std::function<StatusText()> render_;
    const std::function<void(StatusText)> on_done_;
    bool is_requested_ = false;
    Worker worker_;
};

}  // namespace telegate
