// Needs: uplink/src/nats/nats_parser.cpp

// The bytes of a NATS server. The first input byte is the size of the pieces in which the rest arrives.
#include "core/assert.hpp"
#include "nats/nats_parser.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace telegate;
using namespace telegate::uplink;

namespace {

/// Returns the operations and the fault of bytes that arrive in pieces.
std::string parsed(std::string_view bytes, std::size_t piece) {
    NatsParser parser;
    std::string all;
    while (!bytes.empty()) {
        parser.add(bytes.substr(0, piece));
        bytes.remove_prefix(std::min(piece, bytes.size()));
        while (const auto operation = parser.next()) {
            TELEGATE_ASSERT(operation->head.size() + operation->body.size() <= NatsParser::message_bytes_max);
            all += static_cast<char>('0' + static_cast<int>(operation->kind));
            all.append(operation->subject).append(operation->head).append(operation->body) += '\n';
        }
    }
    return all + parser.fault();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 0) {
        const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
        TELEGATE_ASSERT(parsed(bytes, bytes.size()) == parsed(bytes, std::size_t{data[0]} % 16 + 1));
    }
    return 0;
}
