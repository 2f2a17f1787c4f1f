#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <thread>

namespace telegate {

/// Bytes of a thread's name that the kernel keeps.
inline constexpr std::size_t thread_name_bytes_max = 15;

/// Starts a thread that runs `body`, named with the first thread_name_bytes_max bytes of `name`.
///
/// Throws std::system_error that names the thread and the limits that may be the cause.
[[nodiscard]] std::thread start_thread(const std::string& name, std::function<void()> body);

}  // namespace telegate
