// The parsers of frame contents. The first input byte is the frame's flags, the rest its body; each parser also gets
// the body as its own data.
#include "core/assert.hpp"
#include "core/limits.hpp"
#include "zmtp/command.hpp"
#include "zmtp/decoder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace telegate::zmtp;

namespace {

/// Returns whether `tail` is the end of `body`.
[[nodiscard]] bool ends(Bytes body, Bytes tail) {
    return tail.size() <= body.size() && tail.data() + tail.size() == body.data() + body.size();
}

/// Returns the data of a whole command frame, which must have this name.
[[nodiscard]] std::vector<std::byte> data_of(const std::vector<std::byte>& frame_bytes, std::string_view name) {
    FrameDecoder decoder(limits::metadata_bytes_max);
    Bytes input(frame_bytes);
    TELEGATE_ASSERT(decoder.feed(input) == FeedStatus::frame_ready && input.empty());
    TELEGATE_ASSERT(decoder.frame().is_command());
    const auto command = parse_command(decoder.frame().body);
    TELEGATE_ASSERT(command && command->name == name);
    return {command->data.begin(), command->data.end()};
}

void check_ready(Bytes data) {
    const ReadyResult result = parse_ready(data);
    TELEGATE_ASSERT(result.properties.has_value() == result.fault.empty());
    if (!result.properties) {
        return;
    }
    TELEGATE_ASSERT(result.properties->socket_type.has_value());
    TELEGATE_ASSERT(result.properties->identity.size() <= limits::identity_bytes_max);
    TELEGATE_ASSERT(!result.properties->identity.starts_with('\0'));

    std::vector<std::byte> ours;
    append_ready(ours, SocketType::dealer, result.properties->identity);
    const ReadyResult again = parse_ready(data_of(ours, "READY"));
    TELEGATE_ASSERT(again.properties && again.properties->identity == result.properties->identity);
}

void check_ping(Bytes data) {
    const auto ping = parse_ping(data);
    TELEGATE_ASSERT(ping.has_value() == (data.size() >= 2 && data.size() <= 2 + limits::ping_context_bytes_max));
    if (ping) {
        TELEGATE_ASSERT(ends(data, ping->context) && ping->context.size() + 2 == data.size());
        std::vector<std::byte> pong;
        append_pong(pong, ping->context);
        const std::vector<std::byte> context(ping->context.begin(), ping->context.end());
        TELEGATE_ASSERT(data_of(pong, "PONG") == context);

        std::vector<std::byte> ours;
        append_ping(ours, ping->ttl_deciseconds, ping->context);
        const std::vector<std::byte> again = data_of(ours, "PING");
        TELEGATE_ASSERT(parse_ping(again) && std::ranges::equal(parse_ping(again)->context, context));
        TELEGATE_ASSERT(parse_ping(again)->ttl_deciseconds <= ping->ttl_deciseconds);
    }
}

void check_command(Bytes body) {
    const auto command = parse_command(body);
    if (command) {
        TELEGATE_ASSERT(!command->name.empty() && ends(body, command->data));
        TELEGATE_ASSERT(1 + command->name.size() + command->data.size() == body.size());
        check_ready(command->data);
        check_ping(command->data);
    }
}

void check_subscription(const Frame& frame) {
    const auto subscription = parse_subscription(frame);
    if (subscription) {
        TELEGATE_ASSERT(ends(frame.body, subscription->prefix));
        TELEGATE_ASSERT(subscription->prefix.size() < frame.body.size());
    }
}

/// Checks that what we write is read back the same, in both forms.
void check_written_subscription(Bytes prefix) {
    using Kind = Subscription::Kind;
    for (const std::uint8_t minor : {std::uint8_t{0}, std::uint8_t{1}}) {
        for (const Kind kind : {Kind::subscribe, Kind::cancel}) {
            std::vector<std::byte> frame;
            append_subscription(frame, minor, {kind, prefix});
            FrameDecoder decoder(frame.size());
            Bytes input(frame);
            TELEGATE_ASSERT(decoder.feed(input) == FeedStatus::frame_ready && input.empty());
            const auto read = parse_subscription(decoder.frame());
            TELEGATE_ASSERT(read && read->kind == kind && std::ranges::equal(read->prefix, prefix));
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const Bytes body = std::as_bytes(std::span(data + 1, size - 1));
    check_subscription(Frame{data[0], body});
    check_written_subscription(body);
    check_command(body);
    check_ready(body);
    check_ping(body);
    (void)parse_socket_type(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
