#include "device/sampling_thread.hpp"

#include "core/assert.hpp"
#include "short_slice.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace telegate {
namespace {

/// A call on its way; lives on the stack of the caller that waits for it.
struct Request {
    enum class Progress : std::uint8_t { waiting, done, cancelled };

    const std::function<void(MonoTime)>& call;
    Progress progress = Progress::waiting;
};

}  // namespace

struct SamplingThread::State {
    Sampler& sampler;
    const Clock& clock;

    std::mutex mutex;  // guards what follows; not held while the sampler steps
    std::condition_variable work;
    std::condition_variable answers;
    std::vector<Request*> requests;
    bool running = false;
    bool stopping = false;

    /// It did not come to a call in time, and has not been seen awake since.
    std::atomic<bool> is_deaf{false};
    /// When the thread wakes next, or should have; MonoTime::max(): not of its own accord.
    std::atomic<MonoTime> wakes_at{MonoTime::max()};

    std::thread thread;
    ScheduleGrant schedule;

    State(Sampler& the_sampler, const Clock& the_clock, ThreadSchedule wanted)
        : sampler(the_sampler), clock(the_clock) {
        requests.reserve(commands_max);
        schedule.wanted = std::move(wanted);
    }

    void run() {
        ::pthread_setname_np(::pthread_self(), "tg-sample");
        ::prctl(PR_SET_TIMERSLACK, 1UL);  // 1 ns; the default of 50 us would be added to every deadline
        std::unique_lock lock(mutex);
        ask_for_short_slice();  // start() has set the schedule
        while (!stopping) {
            answer_requests();
            lock.unlock();
            const MonoTime next = sampler.step(clock.mono_now());
            wakes_at.store(next, std::memory_order_relaxed);
            lock.lock();
            wait_until(lock, next);
        }
        cancel_requests();
    }

    void wait_until(std::unique_lock<std::mutex>& lock, MonoTime deadline) {
        const auto has_work = [this] {
            is_deaf.store(false, std::memory_order_relaxed);  // asked at each wake-up
            return stopping || !requests.empty();
        };
        if (deadline == MonoTime::max()) {
            work.wait(lock, has_work);
        } else {
            work.wait_until(lock, deadline, has_work);
        }
    }

    void answer_requests() {
        if (!requests.empty()) {
            wakes_at.store(clock.mono_now(), std::memory_order_relaxed);  // a driver may hold up a command, too
        }
        for (Request* request : requests) {
            request->call(clock.mono_now());
            request->progress = Request::Progress::done;
        }
        forget_requests();
    }

    void cancel_requests() {
        running = false;
        wakes_at.store(MonoTime::max(), std::memory_order_relaxed);
        for (Request* request : requests) {
            request->progress = Request::Progress::cancelled;
        }
        forget_requests();
    }

    void forget_requests() {
        if (!requests.empty()) {
            requests.clear();
            answers.notify_all();
        }
    }

    /// Has the sampling thread make the call between two steps. Whether it did, within the time.
    bool run_call(const std::function<void(MonoTime)>& call, std::chrono::milliseconds timeout) {
        std::unique_lock lock(mutex);
        if (!running || stopping || requests.size() == commands_max) {
            return false;
        }
        Request request{call};
        requests.push_back(&request);
        work.notify_all();
        const auto settled = [&request] {
            return request.progress != Request::Progress::waiting;
        };
        if (!answers.wait_for(lock, timeout, settled)) {
            std::erase(requests, &request);  // too late now: it must not take effect after its caller gave up
            is_deaf.store(true, std::memory_order_relaxed);
            return false;
        }
        return request.progress == Request::Progress::done;
    }
};

SamplingThread::SamplingThread(Sampler& sampler, const Clock& clock, ThreadSchedule schedule)
    : state_(std::make_unique<State>(sampler, clock, std::move(schedule))) {}

SamplingThread::~SamplingThread() {
    stop();
}

void SamplingThread::start() {
    TELEGATE_ASSERT(!state_->thread.joinable());
    // The thread waits for it, so that nothing is read before the schedule is set.
    const std::lock_guard lock(state_->mutex);
    state_->stopping = false;
    state_->sampler.interrupt(false);
    state_->wakes_at.store(state_->clock.mono_now(), std::memory_order_relaxed);
    state_->thread = std::thread([state = state_.get()] { state->run(); });
    state_->schedule = schedule_thread(state_->thread.native_handle(), state_->schedule.wanted);
    state_->running = true;
}

void SamplingThread::stop() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
        state_->sampler.interrupt(true);
        state_->work.notify_all();
    }
    if (state_->thread.joinable()) {
        state_->thread.join();
    }
}

Duration SamplingThread::overdue(MonoTime now) const noexcept {
    const MonoTime wakes_at = state_->wakes_at.load(std::memory_order_relaxed);
    return std::max(now, wakes_at) - wakes_at;
}

bool SamplingThread::is_deaf() const noexcept {
    return state_->is_deaf.load(std::memory_order_relaxed);
}

const ScheduleGrant& SamplingThread::schedule() const noexcept {
    return state_->schedule;
}

std::optional<CommandResult> SamplingThread::run_command(DeviceId device, DeviceCommand command,
                                                         std::chrono::milliseconds timeout) {
    CommandResult result;
    const bool done =
        state_->run_call([&](MonoTime now) { result = state_->sampler.command(device, command, now); }, timeout);
    return done ? std::optional(result) : std::nullopt;
}

bool SamplingThread::run_change(Sampler::Prepared& prepared, std::chrono::milliseconds timeout) {
    return state_->run_call([&](MonoTime) { state_->sampler.apply(prepared); }, timeout);
}

}  // namespace telegate
