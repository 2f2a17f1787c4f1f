#pragma once

#include "core/reactor.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace telegate {

/// Null: there was none in time, or no memory for it.
using StatusText = std::shared_ptr<const std::string>;

/// Has the status rendered on a thread of its own, tg-status, which lives for one rendering.
///
/// Threads: the reactor's; join() the main one once the reactor has stopped.
/// Limits:  one rendering at a time; requests made meanwhile share it.
/// Failure: without a thread or memory the text is null; ask() may throw std::bad_alloc.
class StatusRenderer {
  public:
    /// `render` is called on tg-status, `on_done` in a turn of the reactor.
    StatusRenderer(Reactor& reactor, std::function<StatusText()> render, std::function<void(StatusText)> on_done)
        : reactor_(reactor), render_(std::move(render)), on_done_(std::move(on_done)) {}
    ~StatusRenderer() { join(); }
    StatusRenderer(const StatusRenderer&) = delete;
    StatusRenderer& operator=(const StatusRenderer&) = delete;

    void ask();
    /// Waits for the rendering that is going on; its text is not given any more.
    void join();

  private:
    void run() noexcept;
    [[nodiscard]] bool post() noexcept;
    void end();

    Reactor& reactor_;
    const std::function<StatusText()> render_;
    const std::function<void(StatusText)> on_done_;
    StatusText text_;  // of the last rendering; tg-status's until that is done
    bool is_asked_ = false;
    std::atomic<bool> is_over_{false};
    std::thread thread_;
};

}  // namespace telegate
