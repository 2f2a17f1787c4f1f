#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// One operation of a NATS server. The texts are valid until the parser is used again.
struct NatsOperation {
    enum class Kind : std::uint8_t { info, message, error, ping, pong, ok };
    Kind kind = Kind::ok;
    std::string_view subject = {};
    std::string_view head = {};  // of a message with headers
    std::string_view body = {};  // of a message; the JSON of INFO; the text of an error
};

/// Divides what a NATS server sends into operations. It does no I/O.
///
/// Threads: one.
/// Limits:  line_bytes_max and message_bytes_max, checked before anything of that size is stored; what was added in one
///          call is kept besides. An uplink reads only acknowledgments and properties of streams.
/// Failure: fault() is set if the bytes are not those of a server, or exceed a limit. add() throws std::bad_alloc.
class NatsParser {
  public:
    static constexpr std::size_t line_bytes_max = 65'536;  // INFO lists the servers of a cluster
    static constexpr std::size_t message_bytes_max = 262'144;

    void add(std::string_view bytes);
    /// Returns the next operation; nullopt: more bytes are needed, or there is a fault.
    [[nodiscard]] std::optional<NatsOperation> next();
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
    /// Whether everything that was added has been returned.
    [[nodiscard]] bool is_empty() const noexcept { return at_ == bytes_.size(); }
    /// Begins with a new connection.
    void reset() noexcept;

  private:
    std::optional<NatsOperation> message(std::string_view line, std::size_t line_end);

    std::string bytes_;
    std::size_t at_ = 0;  // everything before it has been returned
    std::string fault_;
};

}  // namespace telegate::uplink
