#include "core/reactor.hpp"

#include "core/assert.hpp"

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

void Reactor::run() {
    TELEGATE_ASSERT(state_->runner.load() == std::thread::id());
    state_->runner.store(std::this_thread::get_id());
    struct Leave {
        State& state;
        ~Leave() { state.runner.store(std::thread::id()); }
    } const leave{*state_};
    state_->context.run();
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
