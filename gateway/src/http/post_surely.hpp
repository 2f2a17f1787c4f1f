#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <exception>
#include <thread>

namespace telegate {

/// How long to wait until descriptors or memory may be available again.
inline constexpr std::chrono::milliseconds shortage_pause{100};

/// Repeats `step` until there is enough memory for it. Threads: any.
template <typename Step>
void surely(const Step& step) noexcept {
    for (bool is_done = false; !is_done;) {
        try {
            step();
            is_done = true;
        } catch (const std::exception&) {
            std::this_thread::sleep_for(shortage_pause);
        }
    }
}

/// Runs `action` on a thread of `io`. Threads: any.
template <typename Action>
void post_surely(boost::asio::io_context& io, const Action& action) noexcept {
    surely([&] { boost::asio::post(io, action); });
}

}  // namespace telegate
