#include "zmtp/decoder.hpp"
#include "core/zmtp/wire_bytes.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <limits>

using namespace telegate::zmtp;
using namespace telegate::zmtp::test;

namespace {

constexpr std::uint64_t limit = 1000;

/// Returns everything that a decoder produces from a stream in these pieces: `flags:body;` per frame, then the fault.
[[nodiscard]] std::string decoded(const std::vector<Buffer>& pieces, std::uint64_t frame_bytes_max = limit) {
    FrameDecoder decoder(frame_bytes_max);
    std::string out;
    for (Buffer piece : pieces) {
        Bytes input(piece);
        FeedStatus status = decoder.feed(input);
        while (status == FeedStatus::frame_ready) {
            out += std::to_string(decoder.frame().flags) + ":" + text(decoder.frame().body) + ";";
            status = decoder.feed(input);
        }
        if (status == FeedStatus::violation) {
            return out + "fault: " + std::string(decoder.fault());
        }
    }
    return out;
}

[[nodiscard]] std::string decoded(const Buffer& stream, std::uint64_t frame_bytes_max = limit) {
    return decoded(std::vector<Buffer>{stream}, frame_bytes_max);
}

/// Returns a long header: flags and the eight bytes of the size.
[[nodiscard]] Buffer long_header(int flags, std::uint64_t size) {
    Buffer out = wire(flags);
    for (int shift = 56; shift >= 0; shift -= 8) {
        out.push_back(static_cast<std::byte>(size >> shift));
    }
    return out;
}

/// Returns frames of every kind: short, long, empty, command, multipart, and long ones with a small size.
[[nodiscard]] Buffer mixed_stream() {
    return wire(0x00, 3, "abc", 0x01, 0, 0x00, 2, "de", 0x04, 5, 4, "PING", long_header(0x02, 300),
                std::string(300, 'x'), long_header(0x03, 1), "y", long_header(0x02, 0), long_header(0x06, 2), "\1Z",
                0x00, 0);
}

[[nodiscard]] std::string mixed_result() {
    return "0:abc;1:;0:de;4:\4PING;0:" + std::string(300, 'x') + ";1:y;0:;4:\1Z;0:;";
}

}  // namespace

TEST_CASE("frames of every kind come out of one stream in order", "[core][zmtp]") {
    CHECK(decoded(mixed_stream()) == mixed_result());
}

TEST_CASE("the decoder gives the same frames wherever the stream is split in two", "[core][zmtp]") {
    const Buffer stream = mixed_stream();
    for (std::size_t at = 0; at <= stream.size(); ++at) {
        CAPTURE(at);
        REQUIRE(decoded(split_at(at, stream)) == mixed_result());
    }
}

TEST_CASE("the decoder gives the same frames in pieces of any size", "[core][zmtp]") {
    const Buffer stream = mixed_stream();
    for (std::size_t piece_bytes = 1; piece_bytes <= stream.size(); ++piece_bytes) {
        CAPTURE(piece_bytes);
        REQUIRE(decoded(in_pieces_of(piece_bytes, stream)) == mixed_result());
    }
}

TEST_CASE("one feed consumes one frame and leaves the rest", "[core][zmtp]") {
    const Buffer stream = wire(0x00, 1, "a", 0x00, 1, "b");
    FrameDecoder decoder(limit);
    Bytes input(stream);
    REQUIRE(decoder.feed(input) == FeedStatus::frame_ready);
    CHECK(text(decoder.frame().body) == "a");
    CHECK(input.size() == 3);
}

TEST_CASE("a body that arrives whole is not copied", "[core][zmtp]") {
    const Buffer stream = wire(0x00, 3, "abc");
    const std::size_t header_bytes_first = GENERATE(0U, 1U, 2U);
    CAPTURE(header_bytes_first);
    FrameDecoder decoder(limit);
    Bytes head = Bytes(stream).first(header_bytes_first);
    Bytes rest = Bytes(stream).subspan(header_bytes_first);
    REQUIRE(decoder.feed(head) == FeedStatus::need_more);
    REQUIRE(decoder.feed(rest) == FeedStatus::frame_ready);
    CHECK(decoder.frame().body.data() == stream.data() + 2);
}

TEST_CASE("a body is allowed up to the limit and not beyond, in either form", "[core][zmtp]") {
    CHECK(decoded(wire(0x00, 5, "abcde"), 5) == "0:abcde;");
    CHECK(decoded(wire(long_header(0x02, 5), "abcde"), 5) == "0:abcde;");
    CHECK(decoded(wire(0x00, 6), 5) == "fault: frame over the size limit");
    CHECK(decoded(long_header(0x02, 6), 5) == "fault: frame over the size limit");
    CHECK(decoded(wire(0x00, 0, 0x00, 1), 0) == "0:;fault: frame over the size limit");
}

TEST_CASE("hostile sizes are refused at their header", "[core][zmtp]") {
    const std::string over = "fault: frame over the size limit";
    const std::string negative = "fault: frame size with bit 63 set";
    auto [size, fault] = GENERATE_COPY(table<std::uint64_t, std::string>({{limit + 1, over},
                                                                          {0x100000000U, over},
                                                                          {0x100000000U + 1, over},
                                                                          {0x7FFFFFFFFFFFFFFFU, over},
                                                                          {0x8000000000000000U, negative},
                                                                          {0x8000000000000001U, negative},
                                                                          {0xFFFFFFFFFFFFFFFFU, negative}}));
    const int flags = GENERATE(0x02, 0x03, 0x06);
    CAPTURE(size, flags);
    CHECK(decoded(long_header(flags, size)) == fault);
    CHECK(decoded(in_pieces_of(1, long_header(flags, size))) == fault);
}

TEST_CASE("a huge allowed size takes only as much memory as the bytes that arrive", "[core][zmtp]") {
    constexpr std::uint64_t huge = std::numeric_limits<std::ptrdiff_t>::max();  // more than any allocator can provide
    const Buffer stream = wire(long_header(0x02, huge), "abc");
    CHECK(decoded({stream, wire("d"), wire("e")}, huge).empty());
}

TEST_CASE("flags that no frame may have are refused at the first byte", "[core][zmtp]") {
    const int flags = GENERATE(0x05, 0x07, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF);
    CAPTURE(flags);
    const bool reserved = (flags & 0xF8) != 0;
    CHECK(decoded(wire(flags)) == (reserved ? "fault: reserved frame flag set" : "fault: command frame with MORE"));
}

TEST_CASE("after a violation the decoder delivers no frame", "[core][zmtp]") {
    FrameDecoder decoder(limit);
    const Buffer bad = wire(0x00, 1, "a", 0x08);
    const Buffer good = wire(0x00, 1, "b");
    Bytes input(bad);
    REQUIRE(decoder.feed(input) == FeedStatus::frame_ready);
    REQUIRE(decoder.feed(input) == FeedStatus::violation);
    CHECK(decoder.frame().body.empty());
    input = good;
    CHECK(decoder.feed(input) == FeedStatus::violation);
    CHECK(decoder.fault() == "reserved frame flag set");
}

TEST_CASE("frames before a violation are still delivered", "[core][zmtp]") {
    const Buffer stream = wire(0x00, 1, "a", 0x05, 1, "b");
    const std::string expected = "0:a;fault: command frame with MORE";
    CHECK(decoded(stream) == expected);
    CHECK(decoded(in_pieces_of(1, stream)) == expected);
}

TEST_CASE("a stream that ends inside a frame waits without a frame", "[core][zmtp]") {
    const Buffer stream = wire(long_header(0x02, 4), "abcd");
    for (std::size_t bytes = 0; bytes < stream.size(); ++bytes) {
        CAPTURE(bytes);
        FrameDecoder decoder(limit);
        Bytes input = Bytes(stream).first(bytes);
        CHECK(decoder.feed(input) == FeedStatus::need_more);
        CHECK(input.empty());
    }
}
