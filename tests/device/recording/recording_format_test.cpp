#include "device/recording/recording_format.hpp"

#include "core/crc32c.hpp"
#include "device/recording/made_recording.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::recording;
using namespace telegate::test;

namespace {

std::string hex(Bytes bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
        constexpr std::string_view digits = "0123456789abcdef";
        text += digits[std::to_integer<unsigned>(byte) >> 4U];
        text += digits[std::to_integer<unsigned>(byte) & 15U];
    }
    return text;
}

std::uint32_t bit_by_bit(Bytes bytes) {
    std::uint32_t sum = ~0U;
    for (const std::byte byte : bytes) {
        sum ^= std::to_integer<std::uint32_t>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? 0x82F63B78U : 0U);
        }
    }
    return ~sum;
}

/// Returns a changed record with its checksum corrected.
Parsed parse_changed(RecordingEncoder& encoder, std::size_t at, std::uint8_t value) {
    std::vector<std::byte> bytes(encoder.bytes().begin(), encoder.bytes().end());
    bytes.at(at) = std::byte{value};
    const std::uint32_t sum = crc32c(Bytes(bytes).subspan(4));
    std::memcpy(bytes.data(), &sum, sizeof sum);
    Parsed parsed = parse_record(bytes);
    parsed.record = Unknown{};  // refers to bytes that no longer exist
    return parsed;
}

}  // namespace

TEST_CASE("the checksum is CRC-32C", "[device][recording]") {
    CHECK(crc32c(as_bytes("123456789")) == 0xE3069283);
    CHECK(crc32c({}) == 0);
    CHECK(crc32c(as_bytes(std::string(32, '\0'))) == 0x8A9136AA);
    std::mt19937 random(7);
    std::vector<std::size_t> sizes(100);
    std::iota(sizes.begin(), sizes.end(), 0);
    sizes.insert(sizes.end(), {12'287, 12'288, 12'289, 24'576, 40'005});  // three lanes have 12,288 bytes
    for (const std::size_t bytes : sizes) {
        std::string text(bytes, '\0');
        for (char& one : text) {
            one = static_cast<char>(random());
        }
        CHECK(crc32c(as_bytes(text)) == bit_by_bit(as_bytes(text)));
    }
}

TEST_CASE("the bytes of a recording are as documented", "[device][recording]") {
    RecordingEncoder encoder;
    encoder.file_header();
    encoder.start({1'795'217'494'123, 1'795'217'494'123'000'000, 86'400'000'000'000});
    encoder.channel({3, "boiler", "temp", "Cel"});
    const std::array samples{recorded(3, 42, 86'400'000, 12.5)};
    encoder.samples(samples);
    const std::string text = hex(encoder.bytes());
    CHECK(text.substr(0, 24) == "54475245430d0a1a01000000");
    CHECK(text.substr(32 + 8, 24) == "180000000000000001000000");                  // 24 bytes, number 0, type 1
    CHECK(text.substr(2 * 56 + 8, 24) == "200000000100000002000000");              // 32 bytes, number 1, type 2
    CHECK(text.substr(2 * 72, 24) == "030000000600040003000000");                  // id 3, three lengths
    CHECK(text.substr(2 * 84, 40) == "626f696c657274656d7043656c00000000000000");  // boilertempCel, padded
    CHECK(text.substr(2 * 104 + 8, 24) == "400000000200000003000000");             // 64 bytes, number 2, type 3
    CHECK(text.substr(2 * 136, 48) ==
          "2a00000000000000030000000100000000000000000029"
          "40");
    CHECK(encoder.bytes().size() == 184);
}

TEST_CASE("a recording is read", "[device][recording]") {
    MadeRecording made;
    const ReadRecording read = read_recording(made.bytes());
    CHECK(read.faults.empty());
    CHECK(read.ends.size() == MadeRecording::records);
    CHECK(read.starts.at(0).epoch_ms == 5);
    CHECK(read.starts.at(0).time_mono_ns == 7);
    CHECK(read.channels ==
          std::vector<std::pair<std::uint32_t, std::string>>{{0, "boiler/temp Cel"}, {1, "pump/state "}});
    REQUIRE(read.samples.size() == 6);
    CHECK(read.samples[0].value.real == 12.5);
    CHECK(read.samples[1].text() == "on");
    CHECK(read.samples[1].flags == sample_flag::text_truncated);
    CHECK(read.samples[2].value.integer == -3);
    CHECK(read.samples[3].type == ValueType::none);
    CHECK(read.samples[4].quality == Quality::stale);
    CHECK(read.samples[4].value.boolean);
    REQUIRE(read.gaps.size() == 1);
    CHECK(read.gaps[0].first_seq == 2);
    CHECK(read.gaps[0].last_seq == 5);
    CHECK(read.gaps[0].reason == GapReason::recorder);
    CHECK(read.last.at(0).samples == 6);
    CHECK(read.last.at(0).lost == 4);
    CHECK(read.torn_bytes == 0);
}

TEST_CASE("a record with invalid fields is damaged even if its checksum is correct", "[device][recording]") {
    RecordingEncoder samples;
    const std::array one{recorded(0, 1, 0, true)};
    samples.samples(one);
    const auto [at, value] = GENERATE(table<std::size_t, int>({
        {16 + 26, 1},  // channel 65536
        {16 + 28, 5},  // type
        {16 + 29, 4},  // quality
        {16 + 31, 1},  // text_bytes without a text
        {16 + 32, 2},  // neither true nor false
        {12, 1},       // a start of 64 bytes
        {12, 4},       // a gap of 64 bytes
        {12, 5},       // an end of 64 bytes
        {14, 1},       // reserved bytes that must be zero
    }));
    CAPTURE(at, value);
    CHECK(parse_changed(samples, at, static_cast<std::uint8_t>(value)).status == ParseStatus::damaged);
    CHECK(parse_changed(samples, 12, 99).status == ParseStatus::record);  // a type of a later version
}

TEST_CASE("a channel must have names, and a gap must be in order", "[device][recording]") {
    RecordingEncoder channel;
    channel.channel({0, "d", "c", "u"});
    CHECK(parse_changed(channel, 16 + 12, 'X').status == ParseStatus::damaged);  // not a topic part
    CHECK(parse_changed(channel, 16 + 4, 9).status == ParseStatus::damaged);     // a length
    CHECK(parse_changed(channel, 16 + 2, 1).status == ParseStatus::damaged);     // id 65536
    RecordingEncoder gap;
    gap.gap({0, GapReason::recorder, 2, 3});
    CHECK(parse_changed(gap, 16 + 8, 4).status == ParseStatus::damaged);
    CHECK(parse_changed(gap, 16 + 8, 0).status == ParseStatus::damaged);
    CHECK(parse_changed(gap, 16 + 4, 4).status == ParseStatus::damaged);
    CHECK(parse_changed(gap, 16 + 4, 1).status == ParseStatus::record);
}
