#pragma once

#include "core/reactor.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace telegate {

/// The rendered status. Null: it was not ready in time, or memory was exhausted.
using StatusText = std::shared_ptr<const std::string>;

/// Renders the status on a dedicated thread, tg-status, which ends after each rendering.
///
/// Threads: the reactor's; join() the main one after the reactor has stopped.
/// Limits: one rendering at a time; requests made during a rendering share its result.
/// Failure: without a thread or memory the text is null; ask() may throw std::bad_alloc.
class StatusRenderer {
  public:
    /// `render` is called on tg-status, `on_done` on the reactor thread.
    StatusRenderer(Reactor& reactor, std::function<StatusText()> render, std::function<void(StatusText)> on_done)
        : reactor_(reactor), render_(std::move(render)), on_done_(std::move(on_done)) {}
    ~StatusRenderer() { join(); }
    StatusRenderer(const StatusRenderer&) = delete;
    StatusRenderer& operator=(const StatusRenderer&) = delete;

    void ask();
    /// Waits for the current rendering and discards its result.
    void join();

  private:
    void run() noexcept;
    [[nodiscard]] bool post() noexcept;
    void end();

    Reactor& reactor_;
    const std::function<StatusText()> render_;
    const std::function<void(StatusText)> on_done_;
    StatusText text_;  // of the last rendering; owned by tg-status until it is done
    bool is_asked_ = false;
    std::atomic<bool> is_over_{false};
    std::thread thread_;
};

}  // namespace telegate
