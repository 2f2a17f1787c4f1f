#include "device/sampling_threads.hpp"

#include "stepping_thread.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace telegate {
namespace {

/// The thread of one device.
///
/// Threads: see each member. Limits: one pending change of options, the latest. Failure: none.
struct OwnThread {
    enum class Phase : std::uint8_t { waiting, reading, refused };

    std::atomic<Phase> phase{Phase::waiting};  // the members below are set before this leaves waiting
    std::shared_ptr<OwnThread> before;         // the previous thread of the device; null: none
    std::function<void()> install;             // installs the device; empty: already installed

    std::atomic<bool> removes{false};  // remove the device when the thread ends
    std::atomic<bool> has_ended{false};

    std::mutex mutex;              // guards the member below
    std::function<void()> adjust;  // runs before the next step

    std::unique_ptr<SteppingThread> thread;  // last, because it uses the members above

    void enter(Phase next) {
        phase = next;
        phase.notify_all();
    }

    /// Waits for its turn. Thread: its own.
    void begin() {
        phase.wait(Phase::waiting);
        if (phase == Phase::refused) {
            return;
        }
        if (before != nullptr) {
            before->has_ended.wait(false);
            before = nullptr;
        }
        if (install) {
            install();
            install = nullptr;
        }
    }

    void end() {
        has_ended = true;
        has_ended.notify_all();
    }

    void take_adjustment() {
        std::function<void()> waiting;
        {
            const std::lock_guard lock(mutex);
            waiting.swap(adjust);
        }
        if (waiting) {
            waiting();
        }
    }
};

using OwnThreads = std::map<DeviceId, std::shared_ptr<OwnThread>>;

}  // namespace

struct SamplingThreads::State {
    Sampler& sampler;
    const Clock& clock;
    const ThreadSchedule wanted;
    SteppingThread shared;

    std::mutex turn;           // held by start(), stop() and run_change()
    mutable std::mutex mutex;  // guards the members below
    OwnThreads own;
    std::vector<std::pair<DeviceId, std::shared_ptr<OwnThread>>> leaving;  // threads that were requested to end

    State(Sampler& the_sampler, const Clock& the_clock, ThreadSchedule schedule)
        : sampler(the_sampler),
          clock(the_clock),
          wanted(std::move(schedule)),
          shared(clock, std::make_shared<CancelSignal>(), shared_work()) {}

    SteppingThread::Work shared_work() {
        SteppingThread::Work work;
        work.name = "tg-sample";
        work.step = [this](MonoTime now) {
            return sampler.step(now);
        };
        return work;
    }

    /// Creates a thread that waits until it is released.
    std::shared_ptr<OwnThread> make_thread(DeviceId device, std::shared_ptr<CancelSignal> cancel) {
        auto made = std::make_shared<OwnThread>();
        SteppingThread::Work work;
        work.name = own_thread_name(sampler.status(device).name);
        work.begin = [thread = made.get()] {
            thread->begin();
        };
        work.step = [this, device, thread = made.get()](MonoTime now) {
            thread->take_adjustment();
            return sampler.step_own(device, now);
        };
        work.end = [this, device, thread = made.get()] {
            if (thread->removes) {
                sampler.remove_own(device);
            }
            thread->end();
        };
        made->thread = std::make_unique<SteppingThread>(clock, std::move(cancel), std::move(work));
        made->thread->start({});
        return made;
    }

    static void refuse(OwnThreads& threads) {
        for (const auto& [device, thread] : threads) {
            thread->thread->stop();
            thread->enter(OwnThread::Phase::refused);
        }
    }

    OwnThreads make_threads(const std::vector<Sampler::OwnChange>& changes) {
        OwnThreads made;
        try {
            for (const Sampler::OwnChange& change : changes) {
                if (change.kind == Sampler::OwnChange::Kind::install) {
                    made[change.device] = make_thread(change.device, change.cancel);
                }
            }
        } catch (...) {
            refuse(made);
            throw;
        }
        return made;
    }

    void do_own(const std::shared_ptr<Sampler::Prepared>& prepared, const Sampler::OwnChange& change,
                OwnThreads& made) {
        using Kind = Sampler::OwnChange::Kind;
        if (change.kind == Kind::remove) {
            sampler.announce(change.device, false);
            request_end(change.device, true);
        } else if (change.kind == Kind::install) {
            const std::shared_ptr<OwnThread>& thread = made.at(change.device);
            sampler.announce(change.device, true);
            thread->before = request_end(change.device, false);
            thread->install = [this, prepared, entry = change.entry] {
                sampler.install_own(*prepared, entry);
            };
            own[change.device] = thread;
            thread->enter(OwnThread::Phase::reading);
        } else if (const auto known = own.find(change.device); known != own.end()) {
            const std::lock_guard lock(known->second->mutex);
            known->second->adjust = [this, prepared, entry = change.entry] {
                sampler.adjust_own(*prepared, entry);
            };
            known->second->thread->nudge();
        }
    }

    /// Returns the last thread of the device, which may already have been requested to end; null: none.
    std::shared_ptr<OwnThread> request_end(DeviceId device, bool removes) {
        if (const auto known = own.find(device); known != own.end()) {
            const std::shared_ptr<OwnThread> thread = known->second;
            own.erase(known);
            leaving.emplace_back(device, thread);
            thread->removes = removes;
            thread->thread->stop();
        }
        const auto last =
            std::find_if(leaving.rbegin(), leaving.rend(), [&](const auto& each) { return each.first == device; });
        return last == leaving.rend() ? nullptr : last->second;
    }

    void forget_ended() {
        std::erase_if(leaving, [](const auto& each) { return each.second->has_ended.load(); });
    }

    [[nodiscard]] std::shared_ptr<OwnThread> own_thread(DeviceId device) const {
        const std::lock_guard lock(mutex);
        const auto known = own.find(device);
        return known == own.end() ? nullptr : known->second;
    }
};

SamplingThreads::SamplingThreads(Sampler& sampler, const Clock& clock, ThreadSchedule schedule)
    : state_(std::make_unique<State>(sampler, clock, std::move(schedule))) {}

SamplingThreads::~SamplingThreads() {
    stop();
}

void SamplingThreads::start() {
    State& state = *state_;
    const std::lock_guard turn(state.turn);
    state.sampler.interrupt(false);
    const std::lock_guard lock(state.mutex);
    state.shared.start(state.wanted);
    for (const DeviceId device : state.sampler.devices()) {
        if (state.sampler.is_own(device)) {
            state.own[device] = state.make_thread(device, state.sampler.cancel_of(device));
            state.own[device]->enter(OwnThread::Phase::reading);
        }
    }
}

void SamplingThreads::stop() {
    State& state = *state_;
    state.sampler.interrupt(true);  // first, so a change in progress does not wait for a long step of tg-sample
    const std::lock_guard turn(state.turn);
    const std::lock_guard lock(state.mutex);
    state.shared.stop();
    for (const auto& [device, thread] : state.own) {
        state.leaving.emplace_back(device, thread);
        thread->thread->stop();
    }
    state.own.clear();
    state.shared.join();
    for (const auto& [device, thread] : state.leaving) {
        thread->thread->join();
    }
    state.leaving.clear();
}

std::optional<CommandResult> SamplingThreads::run_command(DeviceId device, DeviceCommand command,
                                                          std::chrono::milliseconds timeout) {
    const std::shared_ptr<OwnThread> own = state_->own_thread(device);
    std::optional<CommandResult> result;
    const auto call = [&](MonoTime) {
        // tg-sample must not run a command for a device that is getting its own thread, or whose thread is ending.
        if (own != nullptr || !state_->sampler.is_own(device)) {
            result = state_->sampler.command(device, command);
        }
    };
    SteppingThread& thread = own == nullptr ? state_->shared : *own->thread;
    return thread.run_call(call, timeout) ? result : std::nullopt;
}

bool SamplingThreads::run_change(const std::shared_ptr<Sampler::Prepared>& prepared,
                                 std::chrono::milliseconds timeout) {
    State& state = *state_;
    const std::lock_guard turn(state.turn);  // a stop during a change would leave devices without a thread
    const std::vector<Sampler::OwnChange> changes = Sampler::own_changes(*prepared);
    OwnThreads made = state.make_threads(changes);
    if (!state.shared.run_call([&](MonoTime) { state.sampler.apply(*prepared); }, timeout)) {
        State::refuse(made);
        return false;
    }
    const std::lock_guard lock(state.mutex);
    for (const Sampler::OwnChange& change : changes) {
        state.do_own(prepared, change, made);
    }
    state.forget_ended();
    return true;
}

Duration SamplingThreads::overdue(MonoTime now) const noexcept {
    return state_->shared.overdue(now);
}

bool SamplingThreads::is_deaf(DeviceId device) const {
    const std::shared_ptr<OwnThread> own = state_->own_thread(device);
    return own == nullptr ? state_->shared.is_deaf() : own->thread->is_deaf();
}

const ScheduleGrant& SamplingThreads::schedule() const noexcept {
    return state_->shared.schedule();
}

}  // namespace telegate
