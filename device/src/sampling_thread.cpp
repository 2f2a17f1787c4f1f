#include "device/sampling_thread.hpp"

#include "core/assert.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace telegate {
namespace {

/// A command on its way; lives on the stack of the caller that waits for its answer.
struct Request {
    enum class Progress : std::uint8_t { waiting, done, cancelled };

    DeviceId device;
    DeviceCommand command;
    Progress progress = Progress::waiting;
    CommandResult result{};
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
            request->result = sampler.command(request->device, request->command, clock.mono_now());
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

const ScheduleGrant& SamplingThread::schedule() const noexcept {
    return state_->schedule;
}

std::optional<CommandResult> SamplingThread::run_command(DeviceId device, DeviceCommand command,
                                                         std::chrono::milliseconds timeout) {
    std::unique_lock lock(state_->mutex);
    std::vector<Request*>& requests = state_->requests;
    if (!state_->running || state_->stopping || requests.size() == commands_max) {
        return std::nullopt;
    }
    Request request{device, command};
    requests.push_back(&request);
    state_->work.notify_all();
    const auto settled = [&request] {
        return request.progress != Request::Progress::waiting;
    };
    if (!state_->answers.wait_for(lock, timeout, settled)) {
        std::erase(requests, &request);  // too late now: it must not take effect after its caller gave up
        return std::nullopt;
    }
    if (request.progress == Request::Progress::cancelled) {
        return std::nullopt;
    }
    return request.result;
}

}  // namespace telegate
