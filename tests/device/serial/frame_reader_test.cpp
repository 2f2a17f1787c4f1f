#include "serial/frame_reader.hpp"
#include "config/enum_names.hpp"

#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "serial_fixture.hpp"
#include "support/catch.hpp"

#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

using namespace std::string_literals;

FrameChannel channel(std::string name, std::size_t offset, std::string_view number) {
    const auto type = enum_names(named_frame_numbers).value(number);
    return {std::move(name), "", offset, *type};
}

/// AA 55, a number of two bytes, the sum.
FrameFormat small_format() {
    return {.start = "\xAA\x55",
            .frame_bytes = 5,
            .checksum = FrameChecksum::sum8,
            .channels = {channel("x", 2, "uint16_be")}};
}

std::string small_frame(unsigned number) {
    std::string frame = "\xAA\x55";
    frame += static_cast<char>(number >> 8U);
    frame += static_cast<char>(number & 0xFFU);
    frame += static_cast<char>((0xAA + 0x55 + (number >> 8U) + (number & 0xFFU)) & 0xFFU);
    return frame;
}

/// Returns the values of all samples, and the counters at the end.
std::string reported_by(const FrameFormat& format, std::string_view bytes, std::size_t part_bytes = 1'000) {
    const SystemClock clock;
    ChannelTable channels;
    std::string told;
    SampleBatch batch(clock, channels, {DeviceId{0}, "device"}, [&](std::span<const TelemetrySample> samples) {
        for (const TelemetrySample& sample : samples) {
            std::ostringstream value;
            value.precision(12);
            sample.type == ValueType::real ? value << sample.value.real : value << sample.value.integer;
            told +=
                channels.at(sample.channel).channel + '=' + (sample.type == ValueType::none ? "-" : value.str()) + ' ';
        }
    });
    FrameReader reader(format);
    reader.open(batch);
    for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
        reader.feed(bytes.substr(at, part_bytes), batch);
    }
    reader.report_counts(batch, false);
    batch.flush();
    return told;
}

TEST_CASE("refused bytes are reported with the reason and the first bytes", "[device][serial][frames]") {
    const SystemClock clock;
    ChannelTable channels;
    SampleBatch batch(clock, channels, {DeviceId{0}, "device"}, [](std::span<const TelemetrySample>) {});
    FrameReader reader(small_format());
    reader.open(batch);
    reader.feed(small_frame(1) + "abc" + small_frame(2), batch);
    CHECK(batch.last_refused() == "bytes outside of a frame: \"61\"");
    std::string wrong = small_frame(3);
    wrong.back() = '\0';
    reader.feed(wrong, batch);
    CHECK(batch.last_refused() == "wrong checksum: \"AA 55 00 03 00\"");
    CHECK(batch.refusals() == 2);
}

TEST_CASE("a frame contains numbers of any width and byte order", "[device][serial][frames]") {
    auto [number, bytes, told] = GENERATE(table<std::string, std::string, std::string>({
        {"int8", "\xFE"s, "-2"},
        {"uint8", "\xFE"s, "254"},
        {"int16_be", "\xFF\xFE"s, "-2"},
        {"int16_le", "\x01\x02"s, "513"},
        {"uint16_be", "\x01\x02"s, "258"},
        {"int32_be", "\xFF\xFF\xFF\xFE"s, "-2"},
        {"uint32_le", "\xFE\xFF\xFF\xFF"s, "4294967294"},
        {"int64_le", "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s, "-2"},
        {"uint64_be", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s, "1.84467440737e+19"},
        {"float32_be", "\x41\xAC\x00\x00"s, "21.5"},
        {"float32_be", "\x41\x39\x99\x9A"s, "11.6"},
        {"float32_le", "\x00\x00\xC0\x7F"s, "-"},
        {"float64_le", "\x00\x00\x00\x00\x00\x80\x35\x40"s, "21.5"},
    }));
    CAPTURE(number);
    const FrameFormat format{.start = "S", .frame_bytes = 1 + bytes.size(), .channels = {channel("x", 1, number)}};
    CHECK(reported_by(format, "S" + bytes) == "x=" + told + " frames.refused=0 ");
}

TEST_CASE("start bytes are parsed from text", "[device][serial][frames]") {
    CHECK(to_frame_start("AA 5f") == "\xAA\x5F");
    CHECK(to_frame_start("aa5F01") == "\xAA\x5F\x01");
    CHECK(to_frame_start("")->empty());
    for (const auto* wrong : {"A", "AAB", "A A", "0x", "GG", "+1"}) {
        CHECK_FALSE(to_frame_start(wrong));
    }
}

TEST_CASE("after invalid bytes, frames continue with the next start bytes", "[device][serial][frames]") {
    const std::string wrong = "\xAA\x55\x01\x02\x03";
    auto [bytes, told] = GENERATE_COPY(table<std::string, std::string>({
        {small_frame(1) + small_frame(2), "x=1 x=2 frames.refused=0 "},
        {"\x55\x01" + small_frame(3), "x=3 frames.refused=0 "},
        {small_frame(1) + "abc" + small_frame(2), "x=1 x=2 frames.refused=1 "},
        {small_frame(1) + wrong + small_frame(2), "x=1 x=2 frames.refused=1 "},
        {small_frame(1) + "\xAA" + small_frame(2), "x=1 x=2 frames.refused=1 "},
        {small_frame(1).substr(0, 3) + small_frame(2), "x=2 frames.refused=1 "},
        {small_frame(1) + small_frame(2).substr(0, 4) + small_frame(3) + small_frame(4),
         "x=1 x=3 x=4 frames.refused=1 "},
        {small_frame(0xAA55) + small_frame(2), "x=43605 x=2 frames.refused=0 "},
        {std::string(22, 'x'), "frames.refused=3 "},
    }));
    for (std::size_t part_bytes = 1; part_bytes <= bytes.size(); ++part_bytes) {
        CAPTURE(part_bytes);
        CHECK(reported_by(small_format(), bytes, part_bytes) == told);
    }
}

TEST_CASE("checksums match their definitions", "[device][serial][frames]") {
    FrameFormat format{
        .start = "1", .frame_bytes = 11, .checksum = FrameChecksum::crc16, .channels = {channel("x", 1, "uint8")}};
    CHECK(reported_by(format, "123456789\x37\x4B") == "x=50 frames.refused=0 ");
    format.checksum = FrameChecksum::xor8;
    format.frame_bytes = 10;
    CHECK(reported_by(format, "123456789\x31") == "x=50 frames.refused=0 ");
    format.checksum = FrameChecksum::sum8;
    CHECK(reported_by(format, "123456789\xDD") == "x=50 frames.refused=0 ");
}

TEST_CASE("invalid frame formats are refused with the reason", "[device][serial][frames]") {
    const auto with = [](auto change) {
        FrameFormat format = small_format();
        change(format);
        return FrameReader(format);
    };
    CHECK_THROWS_WITH(with([](auto& f) { f.start = "123456789"; }),
                      "frame_start: invalid length: 9 bytes; must be 1 to 8");
    CHECK_THROWS_WITH(with([](auto& f) { f.frame_bytes = 3; }), "frame_bytes: invalid value: 3; must be 4 to 1024");
    CHECK_THROWS_WITH(with([](auto& f) { f.frame_bytes = 1'025; }),
                      "frame_bytes: invalid value: 1025; must be 4 to 1024");
    CHECK_THROWS_WITH(with([](auto& f) { f.channels.clear(); }), "format: no channels; frames must have at least one");
    CHECK_THROWS_WITH(with([](auto& f) { f.channels.push_back(channel("X", 0, "uint8")); }),
                      "channel: duplicate name: \"X\"");
    CHECK_THROWS_WITH(with([](auto& f) { f.channels[0].offset = 3; }),
                      "offset: out of range: channel \"x\" has 2 bytes at 3; must be within the 4 bytes before "
                      "the checksum");
}

TEST_CASE("frames can be read from a tty, whatever bytes they contain", "[device][serial][frames]") {
    test::Pty pty;
    test::SerialFixture f(test::serial_options(pty.path(), small_format()));
    CHECK(f.open() == ReadResult::Status::interrupted);
    for (const unsigned number : {0x0D0AU, 0x0304U, 0x1113U, 0xFF00U}) {
        pty.say(small_frame(number));
        CHECK(f.reports("x=" + std::to_string(number)));
    }
}

}  // namespace
}  // namespace telegate
