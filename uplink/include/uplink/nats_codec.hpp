#pragma once

#include "core/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// The operations that a NATS server sends.
enum class NatsKind : std::uint8_t { info, message, ping, pong, ok, error };

/// One operation of the protocol. Texts are views of the decoder's buffer and valid until the next feed().
struct NatsFrame {
    NatsKind kind{};
    std::string_view text;     // info: JSON; error: the reason without quotes
    std::string_view subject;  // of a message
    std::string_view headers;  // of a message: from "NATS/1.0" to the empty line; "": none
    std::string_view payload;  // of a message
};

enum class NatsStatus : std::uint8_t { need_more, frame_ready, violation };

/// Splits the bytes that a NATS server sends into operations. It does no I/O.
///
/// Threads: one.
/// Limits:  a line of line_bytes_max, a message of payload_bytes_max; anything larger is a violation, found before
///          memory is reserved for it.
/// Failure: feed() throws std::bad_alloc. After a violation, the decoder must not be used again.
class NatsDecoder {
  public:
    static constexpr std::size_t line_bytes_max = 65'536;  // INFO lists all servers of a cluster
    static constexpr std::size_t payload_bytes_max = 1'048'576;

    /// Appends bytes.
    void feed(Bytes bytes);
    /// Returns the next operation of what was fed.
    [[nodiscard]] NatsStatus next(NatsFrame& frame);

  private:
    [[nodiscard]] NatsStatus read_message(std::string_view line, bool has_headers, NatsFrame& frame);

    std::string buffer_;
    std::size_t used_ = 0;  // bytes of complete operations at the front of the buffer
};

/// How a client authenticates.
struct NatsCredentials {
    std::string user;  // "": none
    std::string password;
    std::string token;  // "": none
};

/// Each of these appends one operation of a client. Threads: any. Failure: throws std::bad_alloc.
void append_connect(const NatsCredentials& credentials, std::string_view client_name, std::string& out);
void append_subscribe(std::string_view subject, std::string_view id, std::string& out);
struct NatsPublish {
    std::string_view subject;
    std::string_view reply;
    std::string_view headers;  // lines "NAME: VALUE\r\n"
    std::string_view payload;
};
void append_publish(const NatsPublish& publish, std::string& out);
inline constexpr std::string_view nats_ping = "PING\r\n";
inline constexpr std::string_view nats_pong = "PONG\r\n";

/// The properties of a server, from its INFO.
struct NatsServerInfo {
    std::string version;
    std::uint64_t payload_bytes_max = 0;
    bool needs_credentials = false;
    bool needs_tls = false;
    bool has_headers = false;
    bool has_jetstream = false;
};
[[nodiscard]] NatsServerInfo read_server_info(std::string_view json);

/// JetStream's response to a published message.
struct PublishResponse {
    bool is_stored = false;
    bool is_duplicate = false;  // the stream had a message with this id
    bool is_permanent = false;  // not stored, and it will not be if it is sent again
    std::string reason;         // why it is not stored
};
[[nodiscard]] PublishResponse read_publish_response(const NatsFrame& message);

/// Returns whether NATS accepts `text` as a subject to publish to: words separated by dots, without wildcards.
[[nodiscard]] bool is_nats_subject(std::string_view text) noexcept;

}  // namespace telegate::uplink
