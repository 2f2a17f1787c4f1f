#pragma once

#include "zmtp/frame.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Shared by the codec tests: building wire bytes and splitting them into pieces.
namespace telegate::zmtp::test {

using Buffer = std::vector<std::byte>;

inline void append_part(Buffer& out, int byte) {
    out.push_back(static_cast<std::byte>(byte));
}
inline void append_part(Buffer& out, std::string_view text) {
    for (const char c : text) {
        out.push_back(static_cast<std::byte>(c));
    }
}
inline void append_part(Buffer& out, Bytes bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}
inline void append_part(Buffer& out, const Buffer& bytes) {
    append_part(out, Bytes(bytes));
}

/// Numbers are single bytes, text and buffers are used as they are: wire(0x00, 2, 0x01, "A").
template <class... Parts>
[[nodiscard]] Buffer wire(const Parts&... parts) {
    Buffer out;
    (append_part(out, parts), ...);
    return out;
}

/// Returns a readable form for comparisons, so that a failure shows the bytes.
[[nodiscard]] inline std::string hex(Bytes bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const std::byte b : bytes) {
        const auto value = std::to_integer<unsigned>(b);
        out += {digits[value / 16], digits[value % 16], ' '};
    }
    return out;
}

[[nodiscard]] inline std::string text(Bytes bytes) {
    std::string out;
    for (const std::byte b : bytes) {
        out += static_cast<char>(b);
    }
    return out;
}

/// Returns `stream` in pieces of `piece_bytes`. Each piece has its own memory, so that a sanitizer detects a view that
/// outlives it.
[[nodiscard]] inline std::vector<Buffer> in_pieces_of(std::size_t piece_bytes, Bytes stream) {
    std::vector<Buffer> pieces;
    while (!stream.empty()) {
        const Bytes piece = stream.first(piece_bytes < stream.size() ? piece_bytes : stream.size());
        pieces.emplace_back(piece.begin(), piece.end());
        stream = stream.subspan(piece.size());
    }
    return pieces;
}

/// Returns `stream` in two pieces; either may be empty.
[[nodiscard]] inline std::vector<Buffer> split_at(std::size_t first_bytes, Bytes stream) {
    const Bytes head = stream.first(first_bytes);
    const Bytes tail = stream.subspan(first_bytes);
    return {Buffer(head.begin(), head.end()), Buffer(tail.begin(), tail.end())};
}

}  // namespace telegate::zmtp::test
