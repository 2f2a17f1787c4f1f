#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <queue>
#include <utility>

namespace telegate::perf {

/// The usual queue between two threads, and the yardstick here: a lock for every item, a signal for every push, and
/// a copy out of the queue.
///
/// Threads: push() and close() any; pop() any.
/// Limits:  none; it grows for as long as the consumer is slower.
/// Failure: push() throws std::bad_alloc.
template <class T>
class MutexQueue {
  public:
    void push(const T& item) {
        {
            const std::lock_guard lock(mutex_);
            items_.push(item);
        }
        not_empty_.notify_one();
    }
    void push(T&& item) {
        {
            const std::lock_guard lock(mutex_);
            items_.push(std::move(item));
        }
        not_empty_.notify_one();
    }

    /// Waits for an item; nullopt once closed and empty.
    std::optional<T> pop() {
        std::unique_lock lock(mutex_);
        not_empty_.wait(lock, [this] { return closed_ || !items_.empty(); });
        if (items_.empty()) {
            return std::nullopt;
        }
        std::optional<T> item(items_.front());
        items_.pop();
        return item;
    }

    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        not_empty_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable not_empty_;
    std::queue<T> items_;
    bool closed_ = false;
};

}  // namespace telegate::perf
