#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate {

/// The services; see "Services" in docs/wire.md.
enum class ServiceKind : std::uint8_t { ping, catalog, snapshot, replay, status };
inline constexpr std::size_t service_kinds = 5;
[[nodiscard]] std::string_view to_string(ServiceKind kind) noexcept;

enum class ServiceError : std::uint8_t { bad_request, unknown_service, too_large, busy, unknown_epoch };
inline constexpr std::size_t service_errors = 5;
[[nodiscard]] std::string_view to_string(ServiceError error) noexcept;

/// A range of samples of a topic that a client has not received.
struct ServiceHole {
    static constexpr std::uint64_t open_end = UINT64_MAX;  // up to the last published sample

    std::string topic;
    std::uint64_t first_seq = 1;
    std::uint64_t last_seq = open_end;
};

/// The start of a replay: a point in time, or an age.
struct ServiceSince {
    bool is_age = false;
    std::int64_t ns = 0;  // since 1970 UTC, or before now
};

/// The members of a request that are returned unchanged in each reply.
struct ServiceHead {
    std::string service_json;  // "" if unknown
    std::string id_json;       // "" if there is none
};

struct ServiceRequest {
    static constexpr std::size_t bytes_max = 64 * 1024;
    static constexpr std::size_t prefix_bytes_max = 256;
    static constexpr std::size_t id_bytes_max = 64;
    static constexpr std::size_t limit_max = 10'000;
    static constexpr std::size_t holes_max = 1'000;

    ServiceKind kind = ServiceKind::ping;
    ServiceHead head;
    std::string prefix;
    std::string after;
    std::size_t limit = 1'000;
    bool removed = false;       // include removed channels
    bool earlier_runs = false;  // since: may start in an earlier epoch
    std::optional<std::int64_t> epoch;
    std::optional<std::uint64_t> position;
    std::optional<ServiceSince> since;
    std::optional<std::vector<ServiceHole>> holes;
};

/// Why a request cannot be answered.
struct ServiceFault {
    ServiceHead head;
    ServiceError error = ServiceError::bad_request;
    std::string detail = {};
    std::string pointer = {};  // JSON pointer into the request; "" for the whole request
};

/// Parses a request. Threads: any. Limits: bytes_max, three levels of nesting. Failure: only std::bad_alloc.
[[nodiscard]] std::variant<ServiceRequest, ServiceFault> read_service_request(std::string_view text);

}  // namespace telegate
