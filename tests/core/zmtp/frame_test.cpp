#include "zmtp/frame.hpp"
#include "core/zmtp/wire_bytes.hpp"
#include "support/catch.hpp"

#include <array>

using namespace telegate::zmtp;
using namespace telegate::zmtp::test;

namespace {

[[nodiscard]] Buffer header(std::uint8_t flags, std::uint64_t body_bytes) {
    std::array<std::byte, frame_header_bytes_max> out{};
    const std::size_t size = write_frame_header(out.data(), flags, body_bytes);
    return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace

TEST_CASE("a body of up to 255 bytes has a header of two bytes", "[core][zmtp]") {
    CHECK(hex(header(0, 0)) == "00 00 ");
    CHECK(hex(header(frame_flag::more, 1)) == "01 01 ");
    CHECK(hex(header(frame_flag::command, 255)) == "04 ff ");
}

TEST_CASE("a longer body has a header of nine bytes and the LONG flag", "[core][zmtp]") {
    CHECK(hex(header(0, 256)) == "02 00 00 00 00 00 00 01 00 ");
    CHECK(hex(header(frame_flag::more, 0x0102030405060708)) == "03 01 02 03 04 05 06 07 08 ");
    CHECK(hex(header(frame_flag::command, 65536)) == "06 00 00 00 00 00 01 00 00 ");
}

TEST_CASE("the header has as many bytes as announced", "[core][zmtp]") {
    const std::uint64_t body_bytes = GENERATE(0U, 1U, 254U, 255U, 256U, 257U, 65536U, 0x7FFFFFFFFFFFFFFFU);
    CAPTURE(body_bytes);
    CHECK(header(0, body_bytes).size() == frame_header_bytes(body_bytes));
}

TEST_CASE("the flags and the size of a written frame are read back from its header", "[core][zmtp]") {
    const std::uint8_t flags = GENERATE(std::uint8_t{0}, frame_flag::more, frame_flag::command);
    const std::uint64_t body_bytes = GENERATE(0U, 1U, 255U, 256U, 65536U, 0x100000000U);
    CAPTURE(flags, body_bytes);
    const Buffer wire = header(flags, body_bytes);
    CHECK(frame_at(wire.data()).flags == flags);
    CHECK(frame_at(wire.data()).body.size() == body_bytes);
    CHECK(frame_at(wire.data()).body.data() == wire.data() + wire.size());
}

TEST_CASE("a frame knows whether it is a command and whether more follows", "[core][zmtp]") {
    CHECK(Frame{frame_flag::more, {}}.more());
    CHECK_FALSE(Frame{frame_flag::more, {}}.is_command());
    CHECK(Frame{frame_flag::command, {}}.is_command());
    CHECK_FALSE(Frame{frame_flag::command, {}}.more());
}
