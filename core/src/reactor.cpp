#include "core/reactor.hpp"

#include "core/assert.hpp"
#include "deadline.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <thread>
#include <utility>

namespace telegate {

namespace net = boost::asio;

struct Reactor::State {
    net::io_context context{1};  // one thread runs it
    net::executor_work_guard<net::io_context::executor_type> work{context.get_executor()};
    std::atomic<std::thread::id> runner{};
};

Reactor::Reactor() : state_(std::make_unique<State>()) {}
Reactor::~Reactor() = default;

namespace {

/// Marks the calling thread as the one that turns the loop.
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
    state_->context.run();
}

void Reactor::poll() {
    const Turn turn(state_->runner);
    state_->context.poll();
}

bool Reactor::run_for(std::chrono::milliseconds time) {
    const Turn turn(state_->runner);
    const bool any = state_->context.run_one_until(deadline_in(time)) > 0;
    state_->context.poll();
    return any;
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

net::io_context& Reactor::context() noexcept {
    return state_->context;
}

}  // namespace telegate
