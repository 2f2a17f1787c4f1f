#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Wire bytes written by hand, so that tests of the transport do not depend on the codec under test.
namespace telegate::test {

[[nodiscard]] inline std::string big_endian(std::uint64_t value, int bytes) {
    std::string out;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        out += static_cast<char>((value >> shift) & 0xFF);
    }
    return out;
}

/// Flags: 1 more, 4 command. Uses the long form if the size requires it.
[[nodiscard]] inline std::string frame(unsigned flags, std::string_view body) {
    const bool is_long = body.size() > 255;
    return big_endian(flags | (is_long ? 2U : 0U), 1) + big_endian(body.size(), is_long ? 8 : 1) + std::string(body);
}

/// Uses the long form for any size.
[[nodiscard]] inline std::string long_frame(unsigned flags, std::string_view body) {
    return big_endian(flags | 2U, 1) + big_endian(body.size(), 8) + std::string(body);
}
/// Returns the header of a frame without its body.
[[nodiscard]] inline std::string announce(unsigned flags, std::uint64_t body_bytes) {
    return big_endian(flags | 2U, 1) + big_endian(body_bytes, 8);
}

[[nodiscard]] inline std::string command(std::string_view name, std::string_view data) {
    return frame(4, big_endian(name.size(), 1) + std::string(name) + std::string(data));
}

[[nodiscard]] inline std::string message(std::string_view topic, std::string_view payload) {
    return frame(1, topic) + frame(0, payload);
}

/// Returns the greeting of a NULL peer with ZMTP 3.`minor`.
[[nodiscard]] inline std::string greeting(unsigned minor = 1) {
    return "\xFF" + std::string(8, '\0') + "\x7F\x03" + big_endian(minor, 1) + "NULL" + std::string(48, '\0');
}

[[nodiscard]] inline std::string property(std::string_view name, std::string_view value) {
    return big_endian(name.size(), 1) + std::string(name) + big_endian(value.size(), 4) + std::string(value);
}
[[nodiscard]] inline std::string ready(std::string_view socket_type) {
    return command("READY", property("Socket-Type", socket_type));
}
/// Format used by REQ, DEALER and ROUTER.
[[nodiscard]] inline std::string ready(std::string_view socket_type, std::string_view identity) {
    return command("READY", property("Socket-Type", socket_type) + property("Identity", identity));
}

[[nodiscard]] inline std::string subscribe(std::string_view prefix) {
    return command("SUBSCRIBE", prefix);
}
[[nodiscard]] inline std::string cancel(std::string_view prefix) {
    return command("CANCEL", prefix);
}
/// The form of ZMTP 3.0, which applications with XSUB still use.
[[nodiscard]] inline std::string subscribe_3_0(std::string_view prefix) {
    return frame(0, '\1' + std::string(prefix));
}
[[nodiscard]] inline std::string cancel_3_0(std::string_view prefix) {
    return frame(0, '\0' + std::string(prefix));
}

[[nodiscard]] inline std::string ping(std::string_view context, unsigned ttl_deciseconds = 0) {
    return command("PING", big_endian(ttl_deciseconds, 2) + std::string(context));
}
[[nodiscard]] inline std::string pong(std::string_view context) {
    return command("PONG", context);
}

/// Returns everything that a publisher sends before its first message.
[[nodiscard]] inline std::string publisher_hello() {
    return greeting() + ready("PUB");
}

}  // namespace telegate::test
