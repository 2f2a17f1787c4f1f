#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace telegate::verify_tool {

/// Where a stream is, and how to connect.
struct StreamAddress {
    std::string url;  // nats://HOST[:PORT] or tls://HOST[:PORT]
    std::string stream;
    // As in the settings of an uplink; "": none.
    std::string credentials_file;
    std::string tls_ca;
    std::string tls_certificate;
    std::string tls_key;
    std::string tls_server_name;
};

struct StreamMessage {
    std::uint64_t number = 0;  // in the stream
    bool is_from_uplink = false;
    bool is_historical = false;  // may follow later messages
    std::string_view format = {};
    std::string_view payload = {};
};

/// Passes the messages of a stream of NATS JetStream to `each`, in order, from the first one to the one that is the
/// last one when it begins.
///
/// Threads: one; libnats has its own. Limits: the messages that libnats buffers, which flow control limits.
/// Failure: throws log_tool::Failure, std::bad_alloc and exceptions of `each`.
void read_stream(const StreamAddress& address, const std::function<void(const StreamMessage&)>& each);

}  // namespace telegate::verify_tool
