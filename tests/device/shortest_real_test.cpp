#include "shortest_real.hpp"

#include "support/catch.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

using namespace telegate;

TEST_CASE("a 32-bit float becomes the double with its shortest text", "[device][shortest_real]") {
    CHECK(shortest_real(11.6F) == 11.6);
    CHECK(shortest_real(-0.1F) == -0.1);
    CHECK(shortest_real(12.5F) == 12.5);
    CHECK(shortest_real(3.4028235e38F) == 3.4028235e38);
    CHECK(shortest_real(1e-45F) == 1e-45);
    CHECK(std::signbit(shortest_real(-0.0F)));
    CHECK(std::isnan(shortest_real(std::numeric_limits<float>::quiet_NaN())));
    CHECK(shortest_real(-std::numeric_limits<float>::infinity()) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("a 32-bit float converts to a double and back without a change", "[device][shortest_real]") {
    constexpr std::uint32_t step = 65'521;  // a prime, so all exponents and many mantissas are covered
    for (std::uint32_t bits = 0; bits < 0x7F80'0000U; bits += step) {
        const auto value = std::bit_cast<float>(bits);
        REQUIRE(static_cast<float>(shortest_real(value)) == value);
    }
}
