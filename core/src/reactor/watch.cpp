#include "core/watch.hpp"

#include "reactor/deadline.hpp"
#include "reactor/handler_memory.hpp"
#include "reactor/reactor_state.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <system_error>
#include <utility>

namespace telegate {

namespace net = boost::asio;
using ErrorCode = boost::system::error_code;

// Uses io_context's own executor: the default, any_io_executor, costs an indirect call and a copy per operation.
using Executor = net::io_context::executor_type;
using Descriptor = net::posix::basic_stream_descriptor<Executor>;
using Timer =
    net::basic_waitable_timer<std::chrono::steady_clock, net::wait_traits<std::chrono::steady_clock>, Executor>;

struct Watch::State {
    State(net::io_context& context, std::function<void()> readable, std::function<void()> writable)
        : descriptor(context), on_readable(std::move(readable)), on_writable(std::move(writable)) {}

    Descriptor descriptor;
    const std::function<void()> on_readable;
    const std::function<void()> on_writable;
    HandlerMemory readable_memory;
    HandlerMemory writable_memory;
    bool waiting_readable = false;
    bool waiting_writable = false;
    bool gone = false;
};

Watch::Watch(Reactor& reactor, int descriptor, std::function<void()> on_readable, std::function<void()> on_writable)
    : state_(std::make_shared<State>(reactor.state_->context, std::move(on_readable), std::move(on_writable))) {
    ErrorCode error;
    state_->descriptor.assign(descriptor, error);
    if (error) {
        throw std::system_error(error.value(), std::generic_category(), "cannot watch a descriptor");
    }
}

Watch::~Watch() {
    state_->gone = true;
    if (state_->descriptor.is_open()) {
        state_->descriptor.release();
    }
}

void Watch::wait_readable() {
    if (state_->waiting_readable) {
        return;
    }
    const auto call = [state = state_](const ErrorCode& error) {
        state->waiting_readable = false;
        if (!error && !state->gone) {
            state->on_readable();
        }
    };
    state_->descriptor.async_wait(Descriptor::wait_read, HandlerIn{&state_->readable_memory, call});
    state_->waiting_readable = true;  // last: async_wait() may throw
}

void Watch::wait_writable() {
    if (state_->waiting_writable) {
        return;
    }
    const auto call = [state = state_](const ErrorCode& error) {
        state->waiting_writable = false;
        if (!error && !state->gone) {
            state->on_writable();
        }
    };
    state_->descriptor.async_wait(Descriptor::wait_write, HandlerIn{&state_->writable_memory, call});
    state_->waiting_writable = true;  // last: async_wait() may throw
}

struct Alarm::State {
    State(net::io_context& context, std::function<void()> call) : timer(context), on_ring(std::move(call)) {}

    Timer timer;
    std::function<void()> on_ring;
    HandlerMemory memory;
    unsigned setting = 0;  // number of the latest set(); a queued handler with an older number does nothing
};

Alarm::Alarm(Reactor& reactor, std::function<void()> on_ring)
    : state_(std::make_shared<State>(reactor.state_->context, std::move(on_ring))) {}

Alarm::~Alarm() {
    cancel();
}

void Alarm::set(std::chrono::milliseconds after) {
    const unsigned setting = ++state_->setting;
    state_->timer.expires_at(deadline_in(after));
    const auto call = [state = state_, setting](const ErrorCode& error) {
        if (!error && state->setting == setting) {
            state->on_ring();
        }
    };
    state_->timer.async_wait(HandlerIn{&state_->memory, call});
}

void Alarm::cancel() {
    ++state_->setting;
    state_->timer.cancel();
}

Later::Later(Reactor& reactor, std::function<void()> call)
    : deferred_calls_(reactor.deferred_calls()), call_(std::make_shared<DeferredCall>(DeferredCall{std::move(call)})) {}

Later::~Later() {
    cancel();
}

void Later::schedule() {
    deferred_calls_.add(call_);
}

void Later::cancel() {
    deferred_calls_.remove(*call_);
}

}  // namespace telegate
