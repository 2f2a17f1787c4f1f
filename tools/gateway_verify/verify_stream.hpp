#pragma once

#include "gateway_log/commands.hpp"
#include "verify_options.hpp"

#include <functional>

namespace telegate::verify_tool {

/// Passes all messages of the stream to its argument.
using ReadStream = std::function<void(const std::function<void(const StreamMessage&)>& each)>;

/// Verifies a stream and prints the report. Returns the exit code.
/// Threads: one. Limits: those of StreamVerification. Failure: throws log_tool::Failure, std::system_error,
/// std::bad_alloc and exceptions of `read`.
[[nodiscard]] int verify_stream(const VerifyOptions& options, const ReadStream& read,
                                const log_tool::Surroundings& surroundings);

}  // namespace telegate::verify_tool
