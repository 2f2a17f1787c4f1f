// The protocol of NATS servers. The first byte is the size of the pieces in which the rest is decoded; the result must
// not depend on it.
#include "uplink/nats_codec.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace {

using namespace telegate;
using namespace telegate::uplink;

/// Decodes the input in pieces and returns everything that was decoded as one text.
std::string decode(Bytes input, std::size_t piece) {
    NatsDecoder decoder;
    std::string decoded;
    while (!input.empty()) {
        const Bytes part = input.first(std::min(piece, input.size()));
        input = input.subspan(part.size());
        decoder.feed(part);
        NatsFrame frame;
        NatsStatus status = decoder.next(frame);
        for (; status == NatsStatus::frame_ready; status = decoder.next(frame)) {
            decoded += std::to_string(static_cast<int>(frame.kind));
            for (const std::string_view text : {frame.text, frame.subject, frame.headers, frame.payload}) {
                decoded += '[' + std::string(text) + ']';
            }
            const NatsServerInfo info = read_server_info(frame.text);
            TELEGATE_ASSERT(info.version.size() <= frame.text.size());
            const PublishResponse response = read_publish_response(frame);
            TELEGATE_ASSERT(response.is_stored == response.reason.empty());
        }
        if (status == NatsStatus::violation) {
            return decoded + "violation";
        }
    }
    return decoded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const Bytes input = std::as_bytes(std::span(data + 1, size - 1));
    TELEGATE_ASSERT(decode(input, std::size_t{data[0]} + 1) == decode(input, size));
    return 0;
}
