#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate {

/// What can be asked for; see "Services" in docs/wire.md.
enum class ServiceKind : std::uint8_t { ping, catalog, snapshot, replay, status };
inline constexpr std::size_t service_kinds = 5;
[[nodiscard]] std::string_view to_string(ServiceKind kind) noexcept;

enum class ServiceError : std::uint8_t { bad_request, unknown_service, too_large, busy, unknown_epoch };
inline constexpr std::size_t service_errors = 5;
[[nodiscard]] std::string_view to_string(ServiceError error) noexcept;

/// Samples of a topic that somebody has not got.
struct ServiceHole {
    static constexpr std::uint64_t open_end = UINT64_MAX;  // up to what is published

    std::string topic;
    std::uint64_t first_seq = 1;
    std::uint64_t last_seq = open_end;
};

/// From when on: a moment of the clock, or so long ago.
struct ServiceSince {
    bool is_age = false;
    std::int64_t ns = 0;  // since 1970 UTC, or before now
};

/// What goes into each answer as it was given.
struct ServiceHead {
    std::string service_json;  // "" where it cannot be told
    std::string id_json;       // "" for none
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
    bool removed = false;  // also what the gateway has no more
    std::optional<std::int64_t> epoch;
    std::optional<std::uint64_t> position;
    std::optional<ServiceSince> since;
    std::optional<std::vector<ServiceHole>> holes;
};

/// Why there is no other answer.
struct ServiceFault {
    ServiceHead head;
    ServiceError error = ServiceError::bad_request;
    std::string detail = {};
    std::string pointer = {};  // to the place in the request; "" for the whole
};

/// Pure. Threads: any. Limits: bytes_max, three levels deep. Failure: only std::bad_alloc.
[[nodiscard]] std::variant<ServiceRequest, ServiceFault> read_service_request(std::string_view text);

}  // namespace telegate
