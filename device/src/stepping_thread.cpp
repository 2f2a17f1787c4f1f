#include "stepping_thread.hpp"

#include "core/assert.hpp"
#include "core/start_thread.hpp"
#include "short_slice.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

namespace telegate {

SteppingThread::SteppingThread(const Clock& clock, std::shared_ptr<CancelSignal> cancel, Work work)
    : clock_(clock), work_(std::move(work)), cancel_(std::move(cancel)) {
    requests_.reserve(calls_max);
}

SteppingThread::~SteppingThread() {
    stop();
    join();
}

void SteppingThread::start(const ThreadSchedule& wanted) {
    TELEGATE_ASSERT(!thread_.joinable());
    // The thread waits for this lock, so it takes no step before the schedule is set.
    const std::lock_guard lock(mutex_);
    stopping_ = false;
    wakes_at_.store(clock_.mono_now(), std::memory_order_relaxed);
    thread_ = start_thread(work_.name, [this] { run(); });
    schedule_ = schedule_thread(thread_.native_handle(), wanted);
    running_ = true;
}

void SteppingThread::stop() {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
        stopping_ = true;
        cancel_->set();
        wake_.notify_all();
    }
}

void SteppingThread::join() {
    if (thread_.joinable()) {
        thread_.join();
    }
}

void SteppingThread::run() {
    ::prctl(PR_SET_TIMERSLACK, 1UL);  // 1 ns; the default of 50 us would delay every deadline
    std::unique_lock lock(mutex_);
    request_short_slice();  // start() has set the schedule before
    lock.unlock();
    work_.begin();
    lock.lock();
    while (!stopping_) {
        answer_requests();
        nudged_ = false;
        cancel_->clear();
        lock.unlock();
        const MonoTime next = work_.step(clock_.mono_now());
        wakes_at_.store(next, std::memory_order_relaxed);
        lock.lock();
        wait_until(lock, next);
    }
    cancel_requests();
    lock.unlock();
    work_.end();
}

void SteppingThread::wait_until(std::unique_lock<std::mutex>& lock, MonoTime deadline) {
    const auto has_work = [this] {
        is_deaf_.store(false, std::memory_order_relaxed);  // evaluated at each wake-up
        return stopping_ || nudged_ || !requests_.empty();
    };
    if (deadline == MonoTime::max()) {
        wake_.wait(lock, has_work);
    } else {
        wake_.wait_until(lock, deadline, has_work);
    }
}

void SteppingThread::answer_requests() {
    if (!requests_.empty()) {
        wakes_at_.store(clock_.mono_now(), std::memory_order_relaxed);  // a driver may also block a call
    }
    for (Request* request : requests_) {
        request->call(clock_.mono_now());
        request->progress = Request::Progress::done;
    }
    forget_requests();
}

void SteppingThread::cancel_requests() {
    running_ = false;
    wakes_at_.store(MonoTime::max(), std::memory_order_relaxed);
    for (Request* request : requests_) {
        request->progress = Request::Progress::canceled;
    }
    forget_requests();
}

void SteppingThread::forget_requests() {
    if (!requests_.empty()) {
        requests_.clear();
        answers_.notify_all();
    }
}

bool SteppingThread::run_call(const std::function<void(MonoTime)>& call, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    if (!running_ || stopping_ || requests_.size() == calls_max) {
        return false;
    }
    Request request{call};
    requests_.push_back(&request);
    cancel_->set();
    wake_.notify_all();
    const auto settled = [&request] {
        return request.progress != Request::Progress::waiting;
    };
    if (!answers_.wait_for(lock, timeout, settled)) {
        std::erase(requests_, &request);  // the caller has stopped waiting, so the call must not run later
        is_deaf_.store(true, std::memory_order_relaxed);
        return false;
    }
    return request.progress == Request::Progress::done;
}

void SteppingThread::nudge() {
    const std::lock_guard lock(mutex_);
    nudged_ = true;
    cancel_->set();
    wake_.notify_all();
}

Duration SteppingThread::overdue(MonoTime now) const noexcept {
    const MonoTime wakes_at = wakes_at_.load(std::memory_order_relaxed);
    return std::max(now, wakes_at) - wakes_at;
}

}  // namespace telegate
