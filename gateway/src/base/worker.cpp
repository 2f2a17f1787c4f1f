#include "base/worker.hpp"

#include "core/start_thread.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

Worker::Worker(std::string name, std::function<MonoTime()> call, Priority priority)
    : name_(std::move(name)), call_(std::move(call)), priority_(priority) {}

void Worker::start() {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable() && !is_stopping_) {
        thread_ = start_thread(name_, [this] { run(); });
    }
}

void Worker::call_at(MonoTime at) {
    {
        const std::lock_guard lock(mutex_);
        due_ = std::min(due_, at);
    }
    changed_.notify_one();
}

void Worker::stop() {
    std::thread ending;
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
        ending.swap(thread_);
    }
    changed_.notify_one();
    if (ending.joinable()) {
        ending.join();
    }
}

void Worker::run() {
    if (priority_ == Priority::low) {
        lower_priority();
    }
    const SystemClock clock;
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
        if (due_ == MonoTime::max()) {
            changed_.wait(lock);
        } else if (clock.mono_now() < due_) {
            const MonoTime until = due_;
            changed_.wait_until(lock, until);
        } else {
            due_ = MonoTime::max();
            lock.unlock();
            const MonoTime next = call_();
            lock.lock();
            due_ = std::min(due_, next);
        }
    }
}

}  // namespace telegate
