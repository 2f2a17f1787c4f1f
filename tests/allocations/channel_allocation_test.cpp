#include "core/channel_table.hpp"
#include "counted_malloc.hpp"
#include "support/catch.hpp"

#include <optional>
#include <string>

using namespace telegate;
using namespace telegate::test;

TEST_CASE("a channel is refused and counted while there is no memory for its names, and added later",
          "[core][allocations]") {
    ChannelTable table;
    const std::string name(60, 'x');
    std::optional<ChannelId> id;
    {
        const NoMemory no_memory;
        id = table.add(DeviceId{0}, "device", name, "");
    }
    CHECK_FALSE(id);
    CHECK(table.refused() == 1);
    CHECK(table.size() == 0);
    id = table.add(DeviceId{0}, "device", name, "");
    REQUIRE(id);
    CHECK(table.at(*id).topic == "device/" + name);
}
