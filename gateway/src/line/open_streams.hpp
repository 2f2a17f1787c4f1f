#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace telegate {

/// How many event streams are open, so that the pump is prompt while there are any, and tells them of samples; and
/// whether they are to end.
///
/// Threads: any. Limits: the REST server bounds the streams. Failure: open() may throw std::bad_alloc.
class OpenStreams {
  public:
    /// `opened` is called for each stream that opens, on its thread; `wake` by the pump, after samples were published.
    OpenStreams(std::function<void()> opened, std::function<void()> wake)
        : opened_(std::move(opened)), wake_(std::move(wake)) {}

    /// One more, until what it returns is let go.
    [[nodiscard]] std::shared_ptr<void> open() {
        count_.fetch_add(1, std::memory_order_relaxed);
        std::shared_ptr<void> place(nullptr, [this](void*) { count_.fetch_sub(1, std::memory_order_relaxed); });
        opened_();
        return place;
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool any() const noexcept { return count() > 0; }
    void wake() const { wake_(); }

    /// Nothing more is published: a stream ends when it has sent all that was.
    void end() {
        is_ending_ = true;
        wake_();
    }
    /// To be asked before the samples that are there are read.
    [[nodiscard]] bool is_ending() const noexcept { return is_ending_; }

  private:
    const std::function<void()> opened_;
    const std::function<void()> wake_;
    std::atomic<std::size_t> count_{0};
    std::atomic<bool> is_ending_{false};
};

}  // namespace telegate
