#include "app/system_limits.hpp"

#include "support/catch.hpp"

using namespace telegate;

TEST_CASE("with enough descriptors each part gets what it requests", "[gateway][descriptors]") {
    const DescriptorShares shares = share_descriptors(65'536, own_descriptors(10, 1), 64, 256);
    CHECK(shares.rest == 64);
    CHECK(shares.rest_streams == 256);
    CHECK(shares.services >= 1'024);
    CHECK(shares.subscribers >= 3 * 1'024);
}

TEST_CASE("with few descriptors each part gets some, and their sum stays within the limit", "[gateway][descriptors]") {
    for (std::size_t limit = 40; limit <= 2'000; ++limit) {
        const DescriptorShares shares = share_descriptors(limit, own_descriptors(1, 1), 64, 16);
        CAPTURE(limit);
        REQUIRE(shares.rest >= 1);
        REQUIRE(shares.services >= 1);
        REQUIRE(shares.subscribers >= limit / 6);
        REQUIRE(28 + shares.subscribers + shares.services + shares.rest + shares.rest_streams + 1 <= limit);
    }
}

TEST_CASE("each I/O thread of each format has descriptors of its own", "[gateway][descriptors]") {
    CHECK(own_descriptors(1, 3) > own_descriptors(1, 2));
    CHECK(own_descriptors(1, 3) - own_descriptors(1, 2) == own_descriptors(1, 2) - own_descriptors(1, 1));
}

TEST_CASE("with too few descriptors for the process itself each part still gets some", "[gateway][descriptors]") {
    const DescriptorShares shares = share_descriptors(20, own_descriptors(100, 1), 64, 16);
    CHECK(shares.rest >= 1);
    CHECK(shares.services >= 1);
    CHECK(shares.subscribers >= 1);
}

TEST_CASE("a limit that leaves no descriptors for clients is an error that names it", "[gateway][descriptors]") {
    CHECK_NOTHROW(check_free_descriptors(65'536));
    CHECK_THROWS_WITH(check_free_descriptors(8),
                      Catch::Contains("the limit of 8 open files is too low: ") && Catch::Contains("LimitNOFILE="));
}
