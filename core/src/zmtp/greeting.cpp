#include "zmtp/greeting.hpp"

#include "core/assert.hpp"

#include <algorithm>

namespace telegate::zmtp {

namespace {

constexpr std::size_t signature_end_at = 9;
constexpr std::size_t major_at = 10;
constexpr std::size_t minor_at = 11;
constexpr std::size_t mechanism_at = 12;
constexpr std::size_t mechanism_bytes = 20;
constexpr std::size_t as_server_at = 32;

constexpr std::byte major{3};
constexpr std::byte minor{1};

[[nodiscard]] GreetingResult violation(std::string_view fault) noexcept {
    return GreetingResult{GreetingStatus::violation, 0, fault};
}

}  // namespace

Greeting make_greeting(std::string_view mechanism, bool as_server) noexcept {
    TELEGATE_ASSERT(mechanism.size() <= mechanism_bytes);
    Greeting greeting{};
    greeting[0] = std::byte{0xFF};
    greeting[signature_end_at] = std::byte{0x7F};
    greeting[major_at] = major;
    greeting[minor_at] = minor;
    std::ranges::copy(as_bytes(mechanism), greeting.begin() + mechanism_at);  // padded with zeros
    greeting[as_server_at] = static_cast<std::byte>(as_server);
    return greeting;
}

GreetingResult check_greeting(Bytes received, std::string_view mechanism) noexcept {
    if (!received.empty() && received[0] != std::byte{0xFF}) {
        return violation("not a ZMTP greeting");
    }
    if (received.size() > signature_end_at && (received[signature_end_at] & std::byte{1}) == std::byte{0}) {
        return violation("greeting without a version");
    }
    if (received.size() > major_at && received[major_at] < major) {
        return violation("ZMTP version older than 3");
    }
    if (received.size() > mechanism_at) {
        const Greeting ours = make_greeting(mechanism, false);
        const std::size_t bytes = std::min(received.size() - mechanism_at, mechanism_bytes);
        if (!std::ranges::equal(received.subspan(mechanism_at, bytes), Bytes(ours).subspan(mechanism_at, bytes))) {
            return violation("security mechanisms do not match");
        }
    }
    if (received.size() < greeting_bytes) {
        return GreetingResult{};
    }
    const bool is_3_0 = received[major_at] == major && received[minor_at] == std::byte{0};
    return GreetingResult{GreetingStatus::ok, static_cast<std::uint8_t>(is_3_0 ? 0 : 1), {}};
}

}  // namespace telegate::zmtp
