#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <thread>

namespace telegate {

/// Bytes of a thread's name that the kernel keeps.
inline constexpr std::size_t thread_name_bytes_max = 15;

/// Names the calling thread with the first thread_name_bytes_max bytes of `name`.
void name_thread(const std::string& name) noexcept;

/// Starts a thread that runs `body`, named as by name_thread().
///
/// Throws std::system_error that names the thread and the limits that may be the cause.
[[nodiscard]] std::thread start_thread(const std::string& name, std::function<void()> body);

/// Raises the nice value of the calling thread by 10, so that other threads of this process run first: it gets a tenth
/// of a processor that they share with it. For threads that work for a millisecond at a time next to the sample path.
void lower_priority() noexcept;

}  // namespace telegate
