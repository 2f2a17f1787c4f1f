#include "lines/line_assembler.hpp"
#include "support/catch.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace telegate {
namespace {

using Lines = std::vector<std::string>;

/// The output for `bytes` that arrive in parts of `part_bytes`.
Lines lines_of(LineAssembler& assembler, std::string_view bytes, std::size_t part_bytes = 1'000'000) {
    Lines lines;
    for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
        std::string_view part = bytes.substr(at, part_bytes);
        while (const auto line = assembler.next(part)) {
            lines.emplace_back(*line);
        }
        CHECK(part.empty());
    }
    return lines;
}

TEST_CASE("lines end with LF, CR LF or CR, regardless of how the bytes are split", "[device][lines]") {
    const std::string bytes = "one\ntwo\r\nthree\rfour\r\n\r\n\n\rfive\n";
    for (std::size_t part_bytes = 1; part_bytes <= bytes.size(); ++part_bytes) {
        CAPTURE(part_bytes);
        LineAssembler assembler(1'024);
        CHECK(lines_of(assembler, bytes, part_bytes) == Lines{"one", "two", "three", "four", "", "", "", "five"});
        CHECK_FALSE(assembler.finish());
    }
}

TEST_CASE("an overlong line is dropped completely and counted, regardless of how the bytes are split",
          "[device][lines]") {
    const std::string most(16, 'x');
    const std::string bytes = most + "\n" + most + "y\nshort\n" + std::string(100, 'z') + "\r\nend\n";
    for (std::size_t part_bytes = 1; part_bytes <= bytes.size(); ++part_bytes) {
        CAPTURE(part_bytes);
        LineAssembler assembler(16);
        CHECK(lines_of(assembler, bytes, part_bytes) == Lines{most, "short", "end"});
        CHECK(assembler.overlong() == 2);
    }
}

TEST_CASE("unterminated input at the end is also a line", "[device][lines]") {
    LineAssembler assembler(16);
    CHECK(lines_of(assembler, "a\nb") == Lines{"a"});
    CHECK(assembler.finish() == "b");
    CHECK_FALSE(assembler.finish());
    CHECK(lines_of(assembler, std::string(17, 'x')).empty());
    CHECK_FALSE(assembler.finish());
    CHECK(assembler.overlong() == 1);
    CHECK(lines_of(assembler, "c\n") == Lines{"c"});
}

TEST_CASE("a restart within a line drops its rest without counting it", "[device][lines]") {
    LineAssembler assembler(16);
    CHECK(lines_of(assembler, "begin of").empty());
    assembler.restart(true);
    CHECK(lines_of(assembler, std::string(40, 'x')).empty());
    CHECK(lines_of(assembler, "rest\nline\n") == Lines{"line"});
    CHECK(assembler.overlong() == 0);
    CHECK(lines_of(assembler, "begin of").empty());
    assembler.restart(false);
    CHECK(lines_of(assembler, "line\n") == Lines{"line"});
}

}  // namespace
}  // namespace telegate
