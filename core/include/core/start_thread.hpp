#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <thread>

namespace telegate {

/// What the kernel keeps of a thread's name.
inline constexpr std::size_t thread_name_bytes_max = 15;

/// Starts a thread that runs `body` under the first thread_name_bytes_max bytes of `name`.
///
/// Throws std::system_error that names the thread and the limits that may be the cause.
[[nodiscard]] std::thread start_thread(const std::string& name, std::function<void()> body);

}  // namespace telegate
