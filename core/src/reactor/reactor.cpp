#include "core/reactor.hpp"

#include "core/assert.hpp"
#include "reactor/deadline.hpp"
#include "reactor/reactor_state.hpp"

#include <boost/asio/post.hpp>

#include <thread>
#include <utility>

namespace telegate {

namespace net = boost::asio;

namespace {

constexpr auto no_deadline = std::chrono::steady_clock::time_point::max();

}  // namespace

bool Reactor::State::poll() {
    const bool any = context.poll() > 0;
    return busy_polls.poll() || any;
}

bool Reactor::State::turn(std::chrono::steady_clock::time_point deadline) {
    if (context.stopped()) {
        return false;
    }
    bool any = deferred_calls.run();
    if (any || !deferred_calls.empty() || !busy_polls.empty()) {
        any = poll() || any;
    }
    if (!any && !busy_polls.empty() && !context.stopped()) {
        any = busy_polls.wait(deadline);
    }
    if (!any) {
        any = (deadline == no_deadline ? context.run_one() : context.run_one_until(deadline)) > 0;
        any = any || poll();  // even after the deadline
    }
    deferred_calls.run();
    return any;
}

Reactor::Reactor() : state_(std::make_unique<State>()) {}
Reactor::~Reactor() = default;

namespace {

/// Marks the calling thread as the one that runs the event loop.
class Turn {
  public:
    explicit Turn(std::atomic<std::thread::id>& runner) noexcept : runner_(runner) {
        const std::thread::id before = runner_.exchange(std::this_thread::get_id());
        TELEGATE_ASSERT(before == std::thread::id());
    }
    ~Turn() { runner_.store(std::thread::id()); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    std::atomic<std::thread::id>& runner_;
};

}  // namespace

void Reactor::run() {
    const Turn turn(state_->runner);
    while (!state_->context.stopped()) {
        state_->turn(no_deadline);
    }
}

void Reactor::poll() {
    const Turn turn(state_->runner);
    bool any = true;
    while (any && !state_->context.stopped()) {
        any = state_->deferred_calls.run();
        any = state_->poll() || any;
    }
}

bool Reactor::run_for(std::chrono::milliseconds time) {
    return run_until(deadline_in(time));
}

bool Reactor::run_until(std::chrono::steady_clock::time_point deadline) {
    const Turn turn(state_->runner);
    return state_->turn(deadline);
}

void Reactor::stop() {
    state_->context.stop();
}

void Reactor::post(std::function<void()> call) {
    net::post(state_->context, std::move(call));
}

bool Reactor::is_current() const noexcept {
    const std::thread::id runner = state_->runner.load();
    return runner == std::thread::id() || runner == std::this_thread::get_id();
}

DeferredCalls& Reactor::deferred_calls() noexcept {
    return state_->deferred_calls;
}

BusyPolls& Reactor::busy_polls() noexcept {
    return state_->busy_polls;
}

}  // namespace telegate
