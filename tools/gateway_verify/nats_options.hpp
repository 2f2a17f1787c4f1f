#pragma once

#include "nats_handles.hpp"
#include "uplink/adapter_module.hpp"

#include <chrono>
#include <string>

namespace telegate::uplink {

/// Returns the text of the last error of libnats on this thread, without its place in the source of libnats.
[[nodiscard]] std::string nats_error_text(natsStatus status);

/// Returns the options for a connection to one server, without reconnects. Throws std::exception if a file cannot be
/// read or an option is invalid.
[[nodiscard]] NatsOptions make_connect_options(const AdapterOptions& options, const std::string& url,
                                               std::chrono::milliseconds connect_max);

}  // namespace telegate::uplink
