#include "iio/scan_frame.hpp"

#include "support/catch.hpp"

#include <initializer_list>
#include <string_view>
#include <vector>

using namespace telegate::iio;

namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
    std::vector<std::byte> result;
    for (const int value : values) {
        result.push_back(static_cast<std::byte>(value));
    }
    return result;
}

double decoded(std::string_view type, std::initializer_list<int> values) {
    const auto parsed = parse_scan_type(type);
    REQUIRE(parsed);
    return decode_value(*parsed, bytes(values));
}

FrameLayout layout(std::initializer_list<std::string_view> types) {
    FrameLayout result;
    for (const std::string_view type : types) {
        REQUIRE(result.add(*parse_scan_type(type)));
    }
    return result;
}

std::size_t offset(const FrameLayout& of, std::size_t element, std::uint32_t number = 0) {
    const std::vector<std::byte> frame(of.frame_bytes());
    return static_cast<std::size_t>(of.value_bytes(frame, element, number).data() - frame.data());
}

}  // namespace

TEST_CASE("a type is parsed from its text", "[device][iio]") {
    const auto type = parse_scan_type("be:s12/16X3>>4");
    REQUIRE(type);
    CHECK(type->big_endian);
    CHECK(type->form == ScanType::Form::whole);
    CHECK(type->bits == 12);
    CHECK(type->bytes == 2);
    CHECK(type->repeat == 3);
    CHECK(type->shift == 4);
    CHECK(type->length() == 6);
    CHECK(parse_scan_type("le:u8/8"));  // without a shift
    CHECK(parse_scan_type("le:s64/64>>0"));
    CHECK(parse_scan_type("le:f32/32>>0"));
}

TEST_CASE("an invalid or contradictory type is refused", "[device][iio]") {
    for (const std::string_view text : {"",
                                        "le",
                                        "le:",
                                        "xx:s8/8>>0",
                                        "le:x8/8>>0",
                                        "le:s/8>>0",
                                        "le:s8/>>0",
                                        "le:s8/8>>",
                                        "le:s8/8>>0 ",
                                        "le:s9/8>>0",
                                        "le:s8/8>>1",
                                        "le:s0/8>>0",
                                        "le:s8/12>>0",
                                        "le:s64/128>>0",
                                        "le:s8/8X0>>0",
                                        "le:s8/8X17>>0",
                                        "le:f16/16>>0",
                                        "le:s8/8X>>0",
                                        "le:s-8/8>>0",
                                        "le:s99999999999/8>>0"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_scan_type(text));
    }
}

TEST_CASE("values are shifted, masked and sign-extended", "[device][iio]") {
    CHECK(decoded("le:s12/16>>4", {0xF0, 0x7F}) == 2047);
    CHECK(decoded("le:s12/16>>4", {0x0F, 0x80}) == -2048);
    CHECK(decoded("be:s12/16>>4", {0xFF, 0xF5}) == -1);
    CHECK(decoded("be:u12/16>>0", {0xFA, 0xBC}) == 0xABC);
    CHECK(decoded("le:u8/8>>0", {0xFF}) == 255);
    CHECK(decoded("le:s8/8>>0", {0xFF}) == -1);
    CHECK(decoded("le:u24/32>>8", {0x99, 0x01, 0x02, 0x03}) == 0x030201);
    CHECK(decoded("be:s24/24>>0", {0x80, 0x00, 0x00}) == -8'388'608);
    CHECK(decoded("le:s64/64>>0", {0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}) == -2);
    CHECK(decoded("be:u64/64>>0", {0x80, 0, 0, 0, 0, 0, 0, 0}) == 9'223'372'036'854'775'808.0);
    CHECK(decoded("be:f32/32>>0", {0x3F, 0xC0, 0, 0}) == 1.5);
    CHECK(decoded("le:f64/64>>0", {0, 0, 0, 0, 0, 0, 0xF8, 0xBF}) == -1.5);
}

TEST_CASE(
    "each value is aligned to its length, and the frame length is a multiple of the longest "
    "value",
    "[device][iio]") {
    const FrameLayout mixed = layout({"le:s16/16>>0", "le:u8/8>>0", "le:s32/32>>0", "le:s64/64>>0"});
    CHECK(offset(mixed, 0) == 0);
    CHECK(offset(mixed, 1) == 2);
    CHECK(offset(mixed, 2) == 4);
    CHECK(offset(mixed, 3) == 8);
    CHECK(mixed.frame_bytes() == 16);

    const FrameLayout padded = layout({"le:s16/16>>0", "le:s64/64>>0"});
    CHECK(offset(padded, 1) == 8);
    CHECK(padded.frame_bytes() == 16);

    CHECK(layout({"le:s32/32>>0", "le:u8/8>>0"}).frame_bytes() == 8);
    CHECK(layout({}).frame_bytes() == 0);
}

TEST_CASE("repeated values are consecutive and aligned to their total length", "[device][iio]") {
    const FrameLayout repeated = layout({"le:s16/16>>0", "le:s32/32X4>>0", "le:s64/64>>0"});
    CHECK(offset(repeated, 1) == 16);
    CHECK(offset(repeated, 1, 3) == 28);
    CHECK(offset(repeated, 2) == 32);
    CHECK(repeated.frame_bytes() == 48);
}

TEST_CASE("a frame has up to 128 values", "[device][iio]") {
    FrameLayout many;
    const ScanType type = *parse_scan_type("le:u8/8>>0");
    for (std::size_t element = 0; element < elements_max; ++element) {
        CHECK(many.add(type));
    }
    CHECK_FALSE(many.add(type));
    CHECK(many.frame_bytes() == elements_max);
}
