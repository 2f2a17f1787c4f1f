#include "line_bench.hpp"

#include <stdexcept>
#include <utility>

namespace telegate {
namespace {

using test::LineBench;

LineFormat regex(std::string pattern) {
    return {.kind = LineFormat::Kind::regex, .pattern = std::move(pattern)};
}

TEST_CASE("named groups become fields, in the order of the pattern", "[device][lines]") {
    LineBench parse(regex(R"(T: *(?P<temp>\S+) C(?:, H: (?P<hum>\d*)%)?(x)?)"));
    CHECK(parse("[12] T: 21.5 C, H: 40%") == "temp=21.5 hum=40");
    CHECK(parse("T: high C, H: %") == "temp=\"high\" hum=-");
    CHECK(parse("T: on C") == "temp=\"on\"");
    CHECK(parse("starting") == "ignored");
    CHECK(parse("") == "ignored");
}

TEST_CASE("alternatives may share a name", "[device][lines]") {
    LineBench parse(regex("x=(?P<a>.)|y=(?P<a>.)"));
    CHECK(parse("x=1") == "a=1");
    CHECK(parse("y=2") == "a=2");
}

TEST_CASE("a pattern with exponential backtracking takes linear time", "[device][lines]") {
    LineBench parse(regex("^(?P<a>(x+x+)+)y$"));
    CHECK(parse(std::string(60'000, 'x')) == "ignored");
}

TEST_CASE("invalid patterns are refused with the reason", "[device][lines]") {
    CHECK_THROWS_WITH(LineBench(regex("(?P<a>x")), "pattern: invalid pattern: \"(?P<a>x\": missing ): (?P<a>x");
    CHECK_THROWS_WITH(LineBench(regex("(x)")),
                      "pattern: invalid pattern: \"(x)\": no named group; must have at least one group "
                      "(?P<name>...)");
    CHECK_THROWS_AS(LineBench(regex("(?P<a>((x{1000}){1000}){1000})")), std::invalid_argument);
    CHECK_THROWS_AS(LineBench(regex("(?P<a>\\pL{1000})")), std::invalid_argument);
}

}  // namespace
}  // namespace telegate
