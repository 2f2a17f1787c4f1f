#pragma once

#include "core/reactor.hpp"
#include "reactor/busy_polls.hpp"
#include "reactor/deferred_calls.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace telegate {

/// The implementation of Reactor.
/// Threads, Limits, Failure: as Reactor.
struct Reactor::State {
    BusyPolls busy_polls;          // outlives what the context holds
    DeferredCalls deferred_calls;  // likewise
    /// Only the thread that runs the context accesses descriptors and timers, without locking; post() and stop() lock.
    boost::asio::io_context context{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
    std::atomic<std::thread::id> runner{};

    /// Waits until a handler is ready, and runs some of the ready ones. Returns whether there were any. Without a
    /// deadline it sleeps until something happens; with one, Asio checks the clock every second.
    bool turn(std::chrono::steady_clock::time_point deadline);
    /// Runs the handlers that are ready. Returns whether there were any.
    bool poll();
};

}  // namespace telegate
