#pragma once

#include "uplink/adapter_module.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::uplink {

// The requests and replies of JetStream, which are JSON. Replies may be hostile. Threads: any. Failure: throws
// std::bad_alloc.

/// The reply to a published message.
struct PublishReply {
    bool is_stored = false;
    bool is_duplicate = false;  // the stream had a message with this id
    std::string stream;
    Place place = 0;  // in the stream
    Refusal refusal = Refusal::transient;
    std::string reason;  // why it is not stored
};
[[nodiscard]] PublishReply read_publish_reply(std::string_view json);

/// The reply to a request for the stream with a subject.
struct StreamName {
    std::string name;
    std::vector<std::string> all;  // several streams can have parts of a subject with wildcards
    std::string problem;           // why there is no name, and what to do
};
[[nodiscard]] std::string stream_name_request(const std::string& subjects);
[[nodiscard]] StreamName read_stream_name(std::string_view json, const std::string& subjects);

/// Whether a stream can keep the guarantees of an uplink.
struct StreamCheck {
    std::string problem;         // why it cannot, and the command that changes it; "": it can
    bool may_divide = false;     // the problem is the size of messages, which can be divided until it is solved
    std::string warning;         // "": none
    Place last = 0;              // place of the last message
    std::uint64_t identity = 0;  // of the stream; another one with the same name has another one
};
/// `json`: the reply to a request for the properties of the stream.
[[nodiscard]] StreamCheck check_stream(std::string_view json, const AdapterOptions& options);

}  // namespace telegate::uplink
