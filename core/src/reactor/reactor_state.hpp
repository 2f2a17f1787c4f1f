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

/// Threads, Limits, Failure: those of Reactor.
struct Reactor::State {
    BusyPolls busy_polls;          // outlives what the context still holds
    DeferredCalls deferred_calls;  // as well
    /// One thread runs it, and nobody else touches descriptors and timers; post() and stop() have their lock.
    boost::asio::io_context context{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
    std::atomic<std::thread::id> runner{};

    /// Waits until something is ready, and runs some of it. Whether there was anything. Without a deadline it sleeps
    /// for as long as nothing happens; with one, Asio looks at the clock each second.
    bool turn(std::chrono::steady_clock::time_point deadline);
    /// Runs what is ready.
    bool poll();
};

}  // namespace telegate
