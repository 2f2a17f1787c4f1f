#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <chrono>

namespace telegate {

namespace net = boost::asio;
using ErrorCode = boost::system::error_code;

// With io_context's own executor: the default, any_io_executor, costs an indirect call and a copy at every operation.
using Executor = net::io_context::executor_type;
using Descriptor = net::posix::basic_stream_descriptor<Executor>;
using Timer =
    net::basic_waitable_timer<std::chrono::steady_clock, net::wait_traits<std::chrono::steady_clock>, Executor>;

}  // namespace telegate
