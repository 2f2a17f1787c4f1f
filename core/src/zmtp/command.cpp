#include "zmtp/command.hpp"

#include "core/assert.hpp"
#include "core/endian.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace telegate::zmtp {

namespace {

using Kind = Subscription::Kind;

/// A longer TTL overflows in libzmq, which stores it as 16 bits of milliseconds.
constexpr std::uint16_t ping_ttl_deciseconds_max = 655;

/// In the order of SocketType.
constexpr std::array<std::string_view, 11> socket_type_names = {"PAIR",   "PUB",  "SUB",  "REQ",  "REP", "DEALER",
                                                                "ROUTER", "PULL", "PUSH", "XPUB", "XSUB"};

[[nodiscard]] constexpr unsigned bit(SocketType type) noexcept {
    return 1U << static_cast<unsigned>(type);
}

/// Returns the types that may be at the other end, one bit each.
[[nodiscard]] constexpr unsigned peers_of(SocketType type) noexcept {
    using enum SocketType;
    switch (type) {
        case pair: return bit(pair);
        case pub:
        case xpub: return bit(sub) | bit(xsub);
        case sub:
        case xsub: return bit(pub) | bit(xpub);
        case req: return bit(rep) | bit(router);
        case rep: return bit(req) | bit(dealer);
        case dealer: return bit(rep) | bit(dealer) | bit(router);
        case router: return bit(req) | bit(dealer) | bit(router);
        case pull: return bit(push);
        case push: return bit(pull);
    }
    return 0;
}

/// Appends `length text`, the form of every name.
void append_name(std::vector<std::byte>& out, std::string_view name) {
    out.push_back(static_cast<std::byte>(name.size()));
    append_bytes(out, as_bytes(name));
}

void append_property(std::vector<std::byte>& out, std::string_view name, std::string_view value) {
    append_name(out, name);
    std::array<std::byte, 4> value_bytes{};
    store_big_endian(value_bytes.data(), static_cast<std::uint32_t>(value.size()));
    append_bytes(out, value_bytes);
    append_bytes(out, as_bytes(value));
}

void append_header(std::vector<std::byte>& out, std::uint8_t flags, std::size_t body_bytes) {
    std::array<std::byte, frame_header_bytes_max> header{};
    append_bytes(out, Bytes(header).first(write_frame_header(header.data(), flags, body_bytes)));
}

struct Property {
    std::string_view name;
    std::string_view value;
};

/// Takes one property off the front of `data`. Returns a fault; empty if there is none.
[[nodiscard]] std::string_view take_property(Bytes& data, Property& property) noexcept {
    constexpr std::string_view truncated = "truncated READY";
    const auto name_bytes = std::to_integer<std::size_t>(data.front());
    if (name_bytes == 0) {
        return "READY with an empty property name";
    }
    data = data.subspan(1);
    if (data.size() < name_bytes + sizeof(std::uint32_t)) {
        return truncated;
    }
    property.name = as_text(data.first(name_bytes));
    const auto value_bytes = load_big_endian<std::uint32_t>(data.data() + name_bytes);
    data = data.subspan(name_bytes + sizeof(std::uint32_t));
    if (data.size() < value_bytes) {
        return truncated;
    }
    property.value = as_text(data.first(value_bytes));
    data = data.subspan(value_bytes);
    return {};
}

/// The properties that parse_ready() has read so far.
struct ReadyReader {
    ReadyProperties properties;
    bool identity_seen = false;

    /// Returns a fault; empty if there is none.
    [[nodiscard]] std::string_view read(const Property& property) {
        if (equal_ignoring_case(property.name, "Socket-Type")) {
            return read_socket_type(property.value);
        }
        return equal_ignoring_case(property.name, "Identity") ? read_identity(property.value) : std::string_view{};
    }

    [[nodiscard]] std::string_view read_socket_type(std::string_view value) noexcept {
        if (properties.socket_type) {
            return "READY with duplicate Socket-Type";
        }
        properties.socket_type = parse_socket_type(value);
        return properties.socket_type ? std::string_view{} : "unknown Socket-Type";
    }

    [[nodiscard]] std::string_view read_identity(std::string_view value) {
        if (identity_seen) {
            return "READY with duplicate Identity";
        }
        identity_seen = true;
        if (value.size() > limits::identity_bytes_max) {
            return "Identity longer than 255 bytes";
        }
        if (value.starts_with('\0')) {
            return "Identity with a leading zero byte";
        }
        properties.identity = value;
        return {};
    }
};

}  // namespace

std::string_view to_string(SocketType type) noexcept {
    return socket_type_names[static_cast<std::size_t>(type)];
}

std::optional<SocketType> parse_socket_type(std::string_view text) noexcept {
    const auto* const found = std::find(socket_type_names.begin(), socket_type_names.end(), text);
    if (found == socket_type_names.end()) {
        return std::nullopt;
    }
    return static_cast<SocketType>(found - socket_type_names.begin());
}

bool compatible(SocketType ours, SocketType theirs) noexcept {
    return (peers_of(ours) & bit(theirs)) != 0;
}

std::optional<Command> parse_command(Bytes body) noexcept {
    if (body.empty()) {
        return std::nullopt;
    }
    const auto name_bytes = std::to_integer<std::size_t>(body.front());
    if (name_bytes == 0 || name_bytes > body.size() - 1) {
        return std::nullopt;
    }
    return Command{as_text(body.subspan(1, name_bytes)), body.subspan(1 + name_bytes)};
}

void append_command(std::vector<std::byte>& out, std::string_view name, Bytes data) {
    append_header(out, frame_flag::command, 1 + name.size() + data.size());
    append_name(out, name);
    append_bytes(out, data);
}

ReadyResult parse_ready(Bytes data) {
    ReadyReader reader;
    for (std::size_t count = 0; !data.empty(); ++count) {
        if (count == limits::metadata_properties_max) {
            return {std::nullopt, "READY with too many properties"};
        }
        Property property;
        std::string_view fault = take_property(data, property);
        if (fault.empty()) {
            fault = reader.read(property);
        }
        if (!fault.empty()) {
            return {std::nullopt, fault};
        }
    }
    if (!reader.properties.socket_type) {
        return {std::nullopt, "READY without Socket-Type"};
    }
    return {std::move(reader.properties), {}};
}

std::optional<Ping> parse_ping(Bytes data) noexcept {
    constexpr std::size_t ttl_bytes = sizeof(std::uint16_t);
    if (data.size() < ttl_bytes || data.size() - ttl_bytes > limits::ping_context_bytes_max) {
        return std::nullopt;
    }
    return Ping{load_big_endian<std::uint16_t>(data.data()), data.subspan(ttl_bytes)};
}

void append_metadata(std::vector<std::byte>& out, SocketType type, std::string_view identity) {
    TELEGATE_ASSERT(identity.size() <= limits::identity_bytes_max);
    append_property(out, "Socket-Type", to_string(type));
    if (type == SocketType::req || type == SocketType::dealer || type == SocketType::router) {
        append_property(out, "Identity", identity);
    }
}

void append_ready(std::vector<std::byte>& out, SocketType type, std::string_view identity) {
    std::vector<std::byte> metadata;
    append_metadata(metadata, type, identity);
    append_command(out, "READY", metadata);
}

void append_ping(std::vector<std::byte>& out, std::uint16_t ttl_deciseconds, Bytes context) {
    TELEGATE_ASSERT(context.size() <= limits::ping_context_bytes_max);
    std::array<std::byte, sizeof ttl_deciseconds + limits::ping_context_bytes_max> data{};
    store_big_endian(data.data(), std::min(ttl_deciseconds, ping_ttl_deciseconds_max));
    std::copy(context.begin(), context.end(), data.begin() + sizeof ttl_deciseconds);
    append_command(out, "PING", Bytes(data).first(sizeof ttl_deciseconds + context.size()));
}

void append_pong(std::vector<std::byte>& out, Bytes context) {
    append_command(out, "PONG", context);
}

std::optional<Subscription> subscription_of(const Command& command) noexcept {
    if (command.name != "SUBSCRIBE" && command.name != "CANCEL") {
        return std::nullopt;
    }
    return Subscription{command.name == "SUBSCRIBE" ? Kind::subscribe : Kind::cancel, command.data};
}

std::optional<Subscription> parse_subscription(const Frame& frame) noexcept {
    if (frame.is_command()) {
        const auto command = parse_command(frame.body);
        return command ? subscription_of(*command) : std::nullopt;
    }
    if (frame.body.empty() || frame.body[0] > std::byte{1}) {
        return std::nullopt;
    }
    return Subscription{frame.body[0] == std::byte{1} ? Kind::subscribe : Kind::cancel, frame.body.subspan(1)};
}

void append_subscription(std::vector<std::byte>& out, std::uint8_t minor, const Subscription& subscription) {
    const bool is_new = subscription.kind == Kind::subscribe;
    if (minor > 0) {
        return append_command(out, is_new ? "SUBSCRIBE" : "CANCEL", subscription.prefix);
    }
    append_header(out, 0, 1 + subscription.prefix.size());
    out.push_back(std::byte{is_new});
    append_bytes(out, subscription.prefix);
}

}  // namespace telegate::zmtp
